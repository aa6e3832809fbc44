"""What a scrape costs, measured against yardsticks in the same run: ``python -m bench``."""
