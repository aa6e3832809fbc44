"""/proc/sys: the settings of the kernel that matter to memcached."""

from collections.abc import Iterable
from pathlib import Path

from exporter.catalogue.host.sysctl import SETTINGS
from exporter.configuration import HostSettings
from exporter.host.collector import Read, Sample
from exporter.host.network_namespace import OWN, network_namespace
from exporter.host.reading import read_present


def sysctl(settings: HostSettings) -> Read:
    """Return what reads the settings of the table, in the kernel's units."""
    root = settings.procfs / "sys"
    paths = {name: str(root / name.replace(".", "/")) for name in SETTINGS}

    def read_sysctl() -> Iterable[Sample]:
        ours = _net_is_of_the_host(settings.net)
        wanted = {name: path for name, path in paths.items() if ours or name[:4] != "net."}
        found = read_present(wanted.values())
        for name, path in wanted.items():
            values = found.get(path, b"").split()
            fields = SETTINGS[name]
            if fields:
                for field, value in zip(fields, values, strict=False):
                    yield "values", (name, field), int(value)
            elif values:
                yield "value", (name,), int(values[0])

    return read_sysctl


def _net_is_of_the_host(net: Path) -> bool:
    """Return False when the settings ``net.*`` are another network's than the one in ``net``.

    Below any mount of procfs, /proc/sys/net is that of the reader's own network namespace: an
    exporter in a container would show its own settings as the host's.
    """
    host = network_namespace(net)
    return not host or host == network_namespace(OWN)
