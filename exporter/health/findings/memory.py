"""Memory: a full cache is normal, losing items that are of use is not."""

from exporter.health.figures import ratio
from exporter.health.findings.shape import Check, Seen, Severity
from exporter.health.findings.view import View
from exporter.health.words import amount, share, size, time, twice

_EVICTED = "memcached_slab_items_evicted_total"


def _full(view: View) -> Seen | None:
    levels = view.levels
    if not is_full(view) or _evicting_used(view):
        return None
    text = (
        f"Items take {size(levels.memory_bytes or 0)} of {size(levels.memory_limit_bytes or 0)}"
        f" ({share(levels.memory_ratio or 0)})."
    )
    return Seen(Severity.WARNING, text, _doubled(view))


def is_full(view: View) -> bool:
    """Return whether items take more of the memory than the threshold."""
    used = view.levels.memory_ratio
    return used is not None and used > view.thresholds.memory


def _evicting_used(view: View) -> Seen | None:
    evicted = sum(view.increases("memcached_items_evicted_total").values())
    if not evicted or not is_full(view):
        return None
    limits = view.thresholds.evictions
    useful = sum(
        sum(view.increases(f"memcached_items_evicted_{kind}_total").values())
        for kind in ("unfetched", "active")
    )
    age = _youngest_evicted(view)
    if useful / evicted > limits.useful:
        told = f"{share(useful / evicted)} of which nobody had read yet, or were in use"
    elif age is not None and age < limits.young:
        told = f"some of which had been used {time(age)} before"
    else:
        return None
    text = f"It evicted {amount(evicted)} items in {time(view.seconds or 0)}, {told}."
    return Seen(Severity.WARNING, text, _doubled(view))


def _youngest_evicted(view: View) -> float | None:
    """Return the lowest age of an evicted item, in seconds, of classes that evict now."""
    evicting = {dict(own)["slab"] for own, grown in view.increases(_EVICTED).items() if grown}
    ages = view.now.by("slab", "memcached_slab_items_evicted_time_seconds")
    return min((age for slab, age in ages.items() if slab in evicting), default=None)


def _evictions_many(view: View) -> Seen | None:
    rate, most = view.rates and view.rates.evictions, view.thresholds.evictions.per_hour
    if not rate or rate * 3600 <= most:
        return None
    text = f"It evicts {amount(rate)} items a second: {amount(rate * 3600)} an hour at this pace."
    return Seen(Severity.WARNING, text, _doubled(view))


def _evictions_per_set(view: View) -> Seen | None:
    rates, limits = view.rates, view.thresholds.evictions
    if rates is None or rates.evicted_per_set is None or rates.commands["set"] <= limits.floor:
        return None
    if rates.evicted_per_set <= limits.per_set:
        return None
    text = f"It evicts {share(rates.evicted_per_set)} as many items as it stores."
    return Seen(Severity.WARNING, text, _doubled(view))


def _out_of_memory(view: View) -> Seen | None:
    refused = sum(view.increases("memcached_item_no_memory_total").values()) or sum(
        view.increases("memcached_slab_items_outofmemory_total").values()
    )
    if not refused:
        return None
    text = f"It refused {amount(refused)} stores in {time(view.seconds or 0)} for want of memory."
    return Seen(Severity.CRITICAL, text, _doubled(view))


def _no_evictions(view: View) -> Seen | None:
    if view.now.value("memcached_settings_evictions_enabled") != 0 or not is_full(view):
        return None
    used = share(view.levels.memory_ratio or 0)
    return Seen(Severity.WARNING, f"It may not evict (-M), and is {used} full.", _doubled(view))


def _allocations(view: View) -> Seen | None:
    names = ("malloc_fails", "read_buffer_oom", "response_object_oom")
    failed = sum(sum(view.increases(f"memcached_{name}_total").values()) for name in names)
    if not failed:
        return None
    text = f"It got no memory for a connection or an answer {amount(failed)} times"
    return Seen(Severity.WARNING, f"{text} in {time(view.seconds or 0)}.")


def _calcified(view: View) -> Seen | None:
    evicting = {dict(own)["slab"] for own, grown in view.increases(_EVICTED).items() if grown}
    pages = view.now.by("slab", "memcached_slab_current_pages")
    if not evicting or not pages:
        return None
    free = view.now.by("slab", "memcached_slab_chunks_free")
    per_page = view.now.by("slab", "memcached_slab_chunks_per_page")
    idle = view.now.value("memcached_slab_global_page_pool") or 0.0
    whole = sum(pages.values()) + idle
    for slab in pages.keys() - evicting:
        idle += free.get(slab, 0.0) // (per_page.get(slab, 0.0) or float("inf"))
    unused = ratio(idle, whole)
    if unused is None or unused <= view.thresholds.evictions.idle_pages:
        return None
    text = (
        f"It evicts from {amount(len(evicting))} slab classes, while {amount(idle)} of"
        f" {amount(whole)} memory pages lie idle ({share(unused)})."
    )
    return Seen(Severity.WARNING, text)


def _waste(view: View) -> Seen | None:
    sizes = view.now.by("slab", "memcached_slab_chunk_size_bytes")
    used = view.now.by("slab", "memcached_slab_chunks_used")
    wanted = view.now.by("slab", "memcached_slab_mem_requested_bytes")
    # Without a class there is none; from 1.4.0 to 1.4.24 some do not tell what was asked for.
    taken = sum(used.get(slab, 0.0) * chunk for slab, chunk in sizes.items() if wanted.get(slab))
    wasted = ratio(taken - sum(wanted.values()), taken)
    factor = view.now.value("memcached_settings_growth_factor")
    if wasted is None or wasted <= view.thresholds.waste or not is_full(view):
        return None
    text = f"{share(wasted)} of the memory of its items is lost to chunks larger than they"
    told = "" if factor is None else f" (growth factor {factor:g})"
    smaller = 1.08 if factor is None else max(1.02, 1 + (factor - 1) / 3)
    return Seen(Severity.INFO, f"{text}{told}.", {"factor": f"{smaller:.2f}"})


def _too_large(view: View) -> Seen | None:
    refused = sum(view.increases("memcached_item_too_large_total").values())
    most = view.now.value("memcached_settings_item_size_max_bytes")
    if not refused:
        return None
    text = f"It refused {amount(refused)} items in {time(view.seconds or 0)} as too large"
    told = "" if most is None else f" (the limit is {size(most)})"
    return Seen(Severity.WARNING, f"{text}{told}.")


def _doubled(view: View) -> dict[str, str]:
    """Return the placeholder for twice the memory, as -m takes it."""
    limit = view.levels.memory_limit_bytes
    return {"more": twice(limit and limit / 2**20)}


_MORE = "Start memcached with -m {more}, if the host has the memory, or add servers."

MEMORY = (
    Check(
        name="out_of_memory",
        judge=_out_of_memory,
        why="A store failed: clients work on with old data, or with none.",
        remedy=f"{_MORE} See `stats items` for the class: the slab mover (-o slab_automove=1) gives"
        " it pages of others.",
        leave="Never.",
        runbook="MemcachedOutOfMemory",
    ),
    Check(
        name="evicting_used_items",
        judge=_evicting_used,
        why="What is thrown out will be asked for again: each such item is a miss, and work for"
        " the database behind.",
        remedy=f"{_MORE} Or store less, or with shorter times to live.",
        leave="When the hit rate is as good as you want it.",
        runbook="MemcachedEvictingUsedItems",
    ),
    Check(
        name="memory_high",
        judge=_full,
        why="A full cache is normal: it throws out what was not used for longest. It matters when"
        " what it throws out is still of use.",
        remedy=f"Nothing, as long as hit rate and evictions are well. {_MORE}",
        leave="Most often: a cache that is not full has memory to spare.",
        runbook="MemcachedMemoryHigh",
    ),
    Check(
        name="evictions_many",
        judge=_evictions_many,
        why="Items go before their time to live ends, for want of memory.",
        remedy=f"{_MORE} The threshold is `evictions.per_hour`: set it to what is normal here.",
        leave="A busy cache without times to live evicts all the time: judge it by its hit rate.",
        runbook="MemcachedEvictionsHigh",
    ),
    Check(
        name="evictions_per_set_high",
        judge=_evictions_per_set,
        why="Items are thrown out almost as fast as they are stored.",
        remedy=f"{_MORE} The threshold is `evictions.per_set`.",
        leave="A full cache whose items never expire evicts one for each that it stores: set the"
        " threshold to 1 there.",
        runbook="MemcachedEvictionsPerSetHigh",
    ),
    Check(
        name="evictions_off",
        judge=_no_evictions,
        why="When it is full, stores fail.",
        remedy="Start memcached without -M, or with -m {more}.",
        leave="When clients expect that and delete what they no longer need.",
        runbook="MemcachedOutOfMemory",
    ),
    Check(
        name="slabs_calcified",
        judge=_calcified,
        why="Memory that one slab class got is not at hand for another: items are lost while"
        " memory lies idle.",
        remedy="Let memcached move pages: -o slab_reassign,slab_automove=1 (the default since"
        " 1.5.0), or at run time `slabs automove 1`.",
        leave="For some minutes after the sizes of items have changed: the mover takes its time.",
        runbook="MemcachedSlabCalcified",
    ),
    Check(
        name="allocations_failing",
        judge=_allocations,
        why="It closed connections that it had no memory for.",
        remedy="Give the host or the control group more memory than -m: hash table, threads and"
        " connections come on top. Or raise -o read_buf_mem_limit and resp_obj_mem_limit.",
        leave="Never.",
        runbook="MemcachedAllocationsFailing",
    ),
    Check(
        name="items_too_large",
        judge=_too_large,
        why="Clients get an error and no cache for these items.",
        remedy="Store less in one item (compress it, split it), or start memcached with a larger"
        " -I, such as -I 4m.",
        leave="When the application knows and does without.",
    ),
    Check(
        name="slab_waste",
        judge=_waste,
        why="The sizes of items lie just above the sizes of chunks; a finer division holds more"
        " items in the same memory.",
        remedy="Start memcached with -f {factor}, which makes more slab classes, and compare.",
        leave="With less than some hundred MiB: each class takes a page of 1 MiB at least, and many"
        " classes waste more than they save.",
    ),
)
