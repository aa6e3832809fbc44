"""The pages for people: what the last scrapes found, as HTML without scripts."""
