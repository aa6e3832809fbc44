"""The sections of memcached's statistics, in the order in which they are asked for."""

from exporter.catalogue.general import GENERAL
from exporter.catalogue.items import ITEMS
from exporter.catalogue.row import Section
from exporter.catalogue.settings import SETTINGS
from exporter.catalogue.slabs import SLABS

SECTIONS: tuple[Section, ...] = (GENERAL, SETTINGS, ITEMS, SLABS)
