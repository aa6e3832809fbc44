"""Recording and alert rules for Prometheus, as tables."""
