"""How memory is divided among items of different sizes, and who tidies up."""

from exporter.health.figures import ratio
from exporter.health.findings.memory import evicting_classes, is_full
from exporter.health.findings.shape import Check, Seen, Severity
from exporter.health.findings.view import View
from exporter.health.words import amount, count, share

_HALF = 0.5
"""Of its memory for items, which any sound division of it exceeds before items are evicted."""


def _calcified(view: View) -> Seen | None:
    evicting = evicting_classes(view)
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
        f" {amount(whole)} memory pages lie idle ({share(unused)})"
    )
    off = view.now.value("memcached_settings_slab_automove_mode") == 0
    return Seen(Severity.WARNING, f"{text}; moving them is off." if off else f"{text}.")


def _spread_thin(view: View) -> Seen | None:
    used, pages = view.levels.memory_ratio, view.now.by("slab", "memcached_slab_current_pages")
    evicted = sum(view.increases("memcached_items_evicted_total").values())
    # With external storage it is not known exactly what its items take in memory.
    outside = "memcached_extstore_bytes_limit" in view.now.families
    if not evicted or used is None or used >= _HALF or outside or not pages or _calcified(view):
        return None
    classes = sum(1 for number in pages.values() if number)
    text = (
        f"It evicted {count(evicted, 'item')}, though items take but {share(used)} of its memory:"
        f" {amount(sum(pages.values()))} pages are spread over {amount(classes)} slab classes."
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


def _crawler_off(view: View) -> Seen | None:
    enabled = view.now.value("memcached_lru_crawler_enabled")
    evicted = sum(view.increases("memcached_items_evicted_total").values())
    if enabled != 0 or not evicted:
        return None
    text = f"It evicted {count(evicted, 'item')}, and nothing looks for those that have expired"
    return Seen(Severity.INFO, f"{text} (lru_crawler is off).")


SLABS = (
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
        name="slabs_spread_thin",
        judge=_spread_thin,
        why="Each slab class has pages of its own. With many classes or little memory most of each"
        " page is empty, and a class with few pages evicts.",
        remedy="Start memcached with fewer slab classes (-f 1.25, the default, or larger), or with"
        " more memory (-m).",
        leave="Right after very many items were deleted or have expired.",
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
    Check(
        name="crawler_off",
        judge=_crawler_off,
        why="Items that have expired keep their memory until somebody asks for them, while others"
        " are thrown out.",
        remedy="At run time `lru_crawler enable`; start memcached with -o lru_crawler, the default"
        " since 1.5.0.",
        leave="When items have no times to live.",
    ),
)
