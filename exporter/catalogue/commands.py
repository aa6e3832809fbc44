"""Rows of `stats` about commands: counts by outcome, expired and flushed gets, failed stores."""

from exporter.catalogue.row import Row, counter

_NAME = "memcached_commands_total"
_HELP = (
    "Commands by outcome (badval is a cas whose token was outdated); get counts keys, while set, "
    "which includes cas, and flush tell no outcome and count as attempt."
)
_CONFIG = "memcached_config_commands_total"
_CONFIG_HELP = "Commands by which nodes and clients of a managed service share its list of nodes."

COMMANDS: tuple[Row, ...] = (
    counter(
        "get_hits",
        _NAME,
        _HELP,
        since="1.2.0",
        note="A get of 90 keys adds 90 to hits and misses together. In proxy mode all commands "
        "stay 0 here, as they are counted by the proxy.",
        command="get",
        status="hit",
    ),
    counter(
        "get_misses",
        _NAME,
        _HELP,
        since="1.2.0",
        note="Includes memcached_get_expired_total and memcached_get_flushed_total.",
        command="get",
        status="miss",
    ),
    counter(
        "cmd_set",
        _NAME,
        _HELP,
        since="1.2.0",
        note="Every set, add, replace, append, prepend, cas and ms that got memory, stored or not; "
        "items that were too large or found no memory are not included.",
        command="set",
        status="attempt",
    ),
    counter("delete_hits", _NAME, _HELP, since="1.3.3", command="delete", status="hit"),
    counter("delete_misses", _NAME, _HELP, since="1.3.3", command="delete", status="miss"),
    counter("incr_hits", _NAME, _HELP, since="1.3.3", command="incr", status="hit"),
    counter("incr_misses", _NAME, _HELP, since="1.3.3", command="incr", status="miss"),
    counter("decr_hits", _NAME, _HELP, since="1.3.3", command="decr", status="hit"),
    counter("decr_misses", _NAME, _HELP, since="1.3.3", command="decr", status="miss"),
    counter(
        "cas_hits",
        _NAME,
        _HELP,
        since="1.3.3",
        note="Each cas is counted as an attempt to set as well.",
        command="cas",
        status="hit",
    ),
    counter("cas_misses", _NAME, _HELP, since="1.3.3", command="cas", status="miss"),
    counter("cas_badval", _NAME, _HELP, since="1.3.3", command="cas", status="badval"),
    counter(
        "touch_hits",
        _NAME,
        _HELP,
        since="1.4.8",
        note="Includes gat, and mg with a new TTL, which do not count as get commands.",
        command="touch",
        status="hit",
    ),
    counter("touch_misses", _NAME, _HELP, since="1.4.8", command="touch", status="miss"),
    counter("cmd_flush", _NAME, _HELP, since="1.2.7", command="flush", status="attempt"),
    counter(
        "cmd_meta",
        "memcached_meta_debug_commands_total",
        "Meta debug commands (me), which show the internal state of one item.",
        since="1.5.19",
        note="The other meta commands (mg, ms, md, ma) count as get, set, delete, incr and decr.",
    ),
    counter(
        "cmd_config_get",
        _CONFIG,
        _CONFIG_HELP,
        note="Sent by Amazon ElastiCache only.",
        command="get",
    ),
    counter(
        "cmd_config_set",
        _CONFIG,
        _CONFIG_HELP,
        note="Sent by Amazon ElastiCache only.",
        command="set",
    ),
    counter(
        "get_expired",
        "memcached_get_expired_total",
        "Keys that a get found but did not return because they had expired.",
        since="1.4.26",
        note="A part of the misses of get.",
    ),
    counter(
        "get_flushed",
        "memcached_get_flushed_total",
        "Keys that a get found but did not return because a flush had made them invalid.",
        since="1.4.28",
        note="A part of the misses of get; stays near 0 where background threads remove flushed "
        "items before anyone asks for them.",
    ),
    counter(
        "store_too_large",
        "memcached_item_too_large_total",
        "Attempts to store an item that were refused because it exceeds the largest item size.",
        since="1.6.13",
    ),
    counter(
        "store_no_memory",
        "memcached_item_no_memory_total",
        "Attempts to store an item that were refused because no memory could be found for it.",
        since="1.6.13",
        note="Happens when evictions are disabled or when nothing could be evicted.",
    ),
)
