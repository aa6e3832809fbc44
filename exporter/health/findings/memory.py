"""Memory: a full cache is normal, losing items that are of use is not."""

from exporter.health.findings.shape import Check, Seen, Severity
from exporter.health.findings.view import View
from exporter.health.words import amount, count, share, size, time, twice

_LARGEST_MIB = 1024
"""The largest item that -I allows."""


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
    text = f"It evicted {count(evicted, 'item')} in {time(view.seconds or 0)}, {told}."
    return Seen(Severity.WARNING, text, _doubled(view))


def _youngest_evicted(view: View) -> float | None:
    """Return the lowest age of an evicted item, in seconds, of classes that evict now."""
    evicting = evicting_classes(view)
    ages = view.now.by("slab", "memcached_slab_items_evicted_time_seconds")
    return min((age for slab, age in ages.items() if slab in evicting), default=None)


def evicting_classes(view: View) -> set[str]:
    """Return the slab classes that have evicted items lately."""
    grown = view.increases("memcached_slab_items_evicted_total")
    return {dict(own)["slab"] for own, evicted in grown.items() if evicted}


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


def _refused(view: View) -> float:
    """Return how many stores found no memory lately."""
    # The count per class is older than the one of the server.
    return sum(view.increases("memcached_item_no_memory_total").values()) or sum(
        view.increases("memcached_slab_items_outofmemory_total").values()
    )


def _out_of_memory(view: View) -> Seen | None:
    refused = _refused(view)
    if not refused:
        return None
    text = f"It refused {count(refused, 'store')} in {time(view.seconds or 0)} for want of memory."
    return Seen(Severity.CRITICAL, text, _doubled(view))


def _no_evictions(view: View) -> Seen | None:
    used = view.levels.memory_ratio
    if view.now.value("memcached_settings_evictions_enabled") != 0 or used is None:
        return None
    if not is_full(view) and not _refused(view):
        return None
    text = f"It may not evict (-M), and is {share(used)} full."
    return Seen(Severity.WARNING, text, _doubled(view))


def _allocations(view: View) -> Seen | None:
    names = ("malloc_fails", "read_buffer_oom", "response_object_oom")
    failed = sum(sum(view.increases(f"memcached_{name}_total").values()) for name in names)
    if not failed:
        return None
    text = f"It got no memory for a connection or an answer {count(failed, 'time')}"
    return Seen(Severity.WARNING, f"{text} in {time(view.seconds or 0)}.")


def _hash_expanding(view: View) -> Seen | None:
    if view.now.value("memcached_hash_is_expanding") != 1:
        return None
    size_now = view.now.value("memcached_hash_bytes")
    told = "" if size_now is None else f" (it takes {size(size_now)})"
    text = f"It is moving its items to a larger hash table{told}."
    power = view.now.value("memcached_hash_power_level")
    return Seen(Severity.INFO, text, {"power": "N" if power is None else f"{power:.0f}"})


def _too_large(view: View) -> Seen | None:
    refused = sum(view.increases("memcached_item_too_large_total").values())
    most = view.now.value("memcached_settings_item_size_max_bytes")
    if not refused:
        return None
    text = f"It refused {count(refused, 'item')} in {time(view.seconds or 0)} as too large"
    told = "" if most is None else f" (the limit is {size(most)})"
    more = "Nm" if most is None else f"{min(max(2 * most / 2**20, 1), _LARGEST_MIB):.0f}m"
    return Seen(Severity.WARNING, f"{text}{told}.", {"more": more})


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
        " -I, such as -I {more}.",
        leave="When the application knows and does without.",
    ),
    Check(
        name="hash_expanding",
        judge=_hash_expanding,
        why="Until all items are moved, both tables take memory, on top of -m.",
        remedy="Nothing: it ends by itself. Start memcached with -o hashpower={power}, so that the"
        " next time it begins with the size that it needs.",
        leave="When it is over within half an hour.",
        runbook="MemcachedHashExpansionSlow",
    ),
)
