"""Draws the dashboards from live data, as Grafana would: ``python -m grafana.preview``."""
