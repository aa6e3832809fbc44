"""How the host is read: one small file per source."""
