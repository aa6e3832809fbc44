"""Which servers there are, where others than the configuration keep the list."""
