"""The command `check`: is each server well, and if not, what to do."""
