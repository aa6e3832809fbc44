"""What is exported: tables of rows, and the families and label names that follow from them."""

from exporter.catalogue.families import FAMILIES, HOST_FAMILIES, LABEL_NAMES, Family
from exporter.catalogue.sections import SECTIONS

__all__ = ["FAMILIES", "HOST_FAMILIES", "LABEL_NAMES", "SECTIONS", "Family"]
