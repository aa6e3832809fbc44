"""Transparent huge pages."""

from exporter.catalogue.row import Section, gauge

_HELP = "Whether this mode of transparent huge pages is the active one (1) or not (0)."

HUGEPAGES = Section(
    name="hugepages",
    command="/sys/kernel/mm/transparent_hugepage",
    rows=(
        gauge(
            "enabled",
            "memcached_host_transparent_hugepage_mode",
            _HELP,
            dynamic=("mode",),
            setting="enabled",
            note="memcached's `-L` needs `madvise` or `always`; `never` defeats it.",
        ),
        gauge(
            "defrag",
            "memcached_host_transparent_hugepage_mode",
            _HELP,
            dynamic=("mode",),
            setting="defrag",
        ),
    ),
)
