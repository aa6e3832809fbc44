"""What is wrong with a server or its host, and what to do about it: tables of checks."""
