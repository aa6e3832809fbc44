"""The dashboards as tables, and what makes Grafana's JSON of them."""
