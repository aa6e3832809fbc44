"""The sections of memcached's statistics, in the order in which they are asked for."""

from typing import Literal

from exporter.catalogue.clients import CONNS
from exporter.catalogue.general import GENERAL
from exporter.catalogue.item_sizes import ITEM_SIZES
from exporter.catalogue.items import ITEMS
from exporter.catalogue.prefixes import PREFIXES
from exporter.catalogue.proxy_sections import PROXY_BACKENDS, PROXY_FUNCTIONS, PROXY_STATS
from exporter.catalogue.row import Section
from exporter.catalogue.settings import SETTINGS
from exporter.catalogue.slabs import SLABS
from exporter.catalogue.storage_pages import STORAGE_PAGES

SECTIONS: tuple[Section, ...] = (
    GENERAL,
    SETTINGS,
    SLABS,
    ITEMS,
    PROXY_STATS,
    PROXY_FUNCTIONS,
    PROXY_BACKENDS,
    STORAGE_PAGES,
    CONNS,
    ITEM_SIZES,
    PREFIXES,
)

SectionName = Literal[
    "stats",
    "settings",
    "items",
    "slabs",
    "proxy",
    "proxyfuncs",
    "proxybe",
    "extstore",
    "conns",
    "sizes",
    "detail",
]
"""Sections as the configuration names them."""

DEFAULT_SECTIONS: tuple[SectionName, ...] = (
    "stats",
    "settings",
    "items",
    "slabs",
    "proxy",
    "proxyfuncs",
    "proxybe",
)
"""Asked for unless the configuration says otherwise: what costs the server little."""
