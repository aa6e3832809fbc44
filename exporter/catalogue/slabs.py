"""The reply to `stats slabs`: pages and chunks per slab class, and commands per slab class.

A class without pages is left out of the reply.
"""

from exporter.catalogue.items import MEM_REQUESTED, MEM_REQUESTED_HELP
from exporter.catalogue.row import Row, Section, counter, gauge

_COMMANDS = "memcached_slab_commands_total"
_COMMANDS_HELP = (
    "Commands on items of the slab class by outcome (badval is a cas whose token was outdated); "
    "set, which includes cas, tells no outcome and counts as attempt."
)

_ROWS: tuple[Row, ...] = (
    # All classes together
    gauge(
        "active_slabs",
        "memcached_active_slabs",
        "Slab classes that have memory, that is sizes of chunks which are in use.",
        since="1.2.0",
    ),
    gauge(
        "total_malloced",
        "memcached_malloced_bytes",
        "Bytes of memory that the server has taken for slab pages.",
        since="1.2.0",
        note="Reaches memcached_limit_bytes once and stays there, even after all items are "
        "deleted. Exceeds a small limit, as each class gets its first page regardless of it.",
    ),
    # Memory of a class
    gauge(
        "chunk_size",
        "memcached_slab_chunk_size_bytes",
        "Bytes of one chunk of the slab class, the memory that one item takes.",
        since="1.2.0",
        per_class=True,
    ),
    gauge(
        "chunks_per_page",
        "memcached_slab_chunks_per_page",
        "Chunks of the slab class that fit in one page.",
        since="1.2.0",
        per_class=True,
    ),
    gauge(
        "total_pages",
        "memcached_slab_current_pages",
        "Pages that the slab class has.",
        since="1.2.0",
        per_class=True,
    ),
    gauge(
        "total_chunks",
        "memcached_slab_current_chunks",
        "Chunks that the slab class has, used and free.",
        since="1.2.0",
        per_class=True,
    ),
    gauge(
        "used_chunks",
        "memcached_slab_chunks_used",
        "Chunks of the slab class that hold items.",
        since="1.2.0",
        per_class=True,
    ),
    gauge(
        "free_chunks",
        "memcached_slab_chunks_free",
        "Chunks of the slab class that are free.",
        since="1.2.0",
        per_class=True,
        note="Up to 1.4.13 without the chunks of memcached_slab_chunks_free_end.",
    ),
    gauge(
        "free_chunks_end",
        "memcached_slab_chunks_free_end",
        "Chunks at the end of the newest page of the slab class that were never used.",
        since="1.2.0",
        per_class=True,
        note="Always 0 since 1.4.14.",
    ),
    gauge(
        "mem_requested",
        MEM_REQUESTED,
        MEM_REQUESTED_HELP,
        since="1.4.1",
        until="1.5.16",
        per_class=True,
        note="Comes from `stats items` since 1.5.17.",
    ),
    # Commands
    counter(
        "get_hits",
        _COMMANDS,
        _COMMANDS_HELP,
        since="1.3.3",
        per_class=True,
        note="Counts keys, not requests.",
        command="get",
        status="hit",
    ),
    counter(
        "cmd_set",
        _COMMANDS,
        _COMMANDS_HELP,
        since="1.3.3",
        per_class=True,
        note="Every command that got memory to store an item, stored or not.",
        command="set",
        status="attempt",
    ),
    counter(
        "delete_hits",
        _COMMANDS,
        _COMMANDS_HELP,
        since="1.3.3",
        per_class=True,
        command="delete",
        status="hit",
    ),
    counter(
        "incr_hits",
        _COMMANDS,
        _COMMANDS_HELP,
        since="1.3.3",
        per_class=True,
        command="incr",
        status="hit",
    ),
    counter(
        "decr_hits",
        _COMMANDS,
        _COMMANDS_HELP,
        since="1.3.3",
        per_class=True,
        command="decr",
        status="hit",
    ),
    counter(
        "cas_hits",
        _COMMANDS,
        _COMMANDS_HELP,
        since="1.3.3",
        per_class=True,
        command="cas",
        status="hit",
    ),
    counter(
        "cas_badval",
        _COMMANDS,
        _COMMANDS_HELP,
        since="1.3.3",
        per_class=True,
        command="cas",
        status="badval",
    ),
    counter(
        "touch_hits",
        _COMMANDS,
        _COMMANDS_HELP,
        since="1.4.8",
        per_class=True,
        command="touch",
        status="hit",
    ),
)

SLABS = Section(name="slabs", command="stats slabs", rows=_ROWS)
