"""What is exported about the host: tables of rows, one file per topic."""
