"""The reply to `stats detail dump`, from a server on which `stats detail` was switched on."""

from exporter.catalogue.row import Section, counter

_NOTE = (
    "The number of prefixes is capped by `max_prefixes` in the module, the rest is in `other`."
    " memcached counts only while `stats detail` is on, which costs it a lock per command."
)

PREFIXES = Section(
    name="detail",
    command="stats detail dump",
    rows=(
        counter(
            "get",
            "memcached_prefix_gets_total",
            "Keys that were asked for, by the prefix of the key.",
            dynamic=("prefix",),
            note=_NOTE,
        ),
        counter(
            "hit",
            "memcached_prefix_get_hits_total",
            "Keys that were asked for and found, by the prefix of the key.",
            dynamic=("prefix",),
            note=_NOTE,
        ),
        counter(
            "set",
            "memcached_prefix_sets_total",
            "Attempts to store an item, by the prefix of the key.",
            dynamic=("prefix",),
            note=_NOTE,
        ),
        counter(
            "del",
            "memcached_prefix_deletes_total",
            "Attempts to delete an item, by the prefix of the key.",
            dynamic=("prefix",),
            note=_NOTE,
        ),
    ),
)
