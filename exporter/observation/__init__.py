"""Servers and host as people look at them: samples become snapshots, and snapshots a history."""
