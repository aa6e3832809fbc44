"""The whole stack on one machine, to look at: ``make demo``."""
