"""The board of what lies below memcached: CPU, control group, network, kernel."""

from grafana.source.host_network import ACCEPT, CARDS, PACKETS
from grafana.source.host_settings import SETTINGS
from grafana.source.host_workers import GROUP, SWITCHES, WORKERS
from grafana.source.shape import Board

HOST = Board(
    uid="memcached-host",
    title="Memcached / Host",
    text="What slows memcached from below. Network cards, packets and settings are those of the"
    " exporter's host: with servers read by /scrape, choose the exporter's own job and instance"
    " as well.",
    sections=(WORKERS, GROUP, SWITCHES, ACCEPT, CARDS, PACKETS, SETTINGS),
)
