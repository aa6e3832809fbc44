"""The configuration as the other rooms see it: checked, complete and immutable."""

import re
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from exporter.addresses import Address, ListenAddress
from exporter.health.thresholds import Thresholds
from exporter.tls import ClientTls


class Auth(msgspec.Struct, frozen=True):
    """Who the exporter is to a server; the password comes from a file or the environment."""

    username: str
    password_file: str = ""
    password_env: str = ""


class Module(msgspec.Struct, frozen=True):
    """How a server is read."""

    name: str
    timeout: float
    """Longest time for one scrape of one server, in seconds."""
    sections: tuple[str, ...]
    """Names of the ``stats`` sections that are asked for, as far as the server allows."""
    assume_no_napi_ids: bool
    """True when the operator states that no server of this module was started with ``-N``."""
    max_reply_bytes: int
    """Replies of one scrape that are longer in sum are refused."""
    top_clients: int = 0
    """Client addresses to export from `stats conns`; 0 for none."""
    max_prefixes: int = 100
    """Key prefixes to export from `stats detail dump`."""
    probe_interval: float = 0.0
    """Seconds between probes of the round trip; 0 for none."""
    tls: ClientTls | None = None
    auth: Auth | None = None
    labels: tuple[tuple[str, str], ...] = ()
    """Labels of all servers that are read by it; a server's own ones count more."""
    canary_key: str = ""
    """Key that the probe reads, and stores when it is missing; empty for none."""


class Server(msgspec.Struct, frozen=True):
    """One memcached server to read, and how."""

    address: Address
    module: Module
    labels: tuple[tuple[str, str], ...] = ()
    """Labels on every sample of this server, without ``server``."""
    pid_file: str = ""
    """File that holds the number of its process on this host; empty for none."""


WILDCARDS = "*?["
"""What stands for other characters in the name of a file."""


class FileDiscovery(msgspec.Struct, frozen=True):
    """Servers that files in Prometheus' file_sd format list."""

    pattern: str
    """Absolute path, in which ``*`` stands for anything."""
    modules: dict[str, Module]
    """What the files can choose from."""

    @property
    def name(self) -> str:
        """What metrics and logs call it."""
        return f"file:{self.pattern}"


class DnsDiscovery(msgspec.Struct, frozen=True):
    """Servers that records of a name lead to."""

    record: str
    type: str
    """``A``, ``AAAA`` or ``SRV``."""
    port: int
    """Of the servers, where the records do not say it."""
    refresh: float
    """Seconds between look-ups."""
    module: Module
    labels: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """What metrics and logs call it."""
        port = f":{self.port}" if self.port else ""
        return f"dns:{self.type}:{self.record}{port}"


class ElastiCacheDiscovery(msgspec.Struct, frozen=True):
    """Servers that a configuration endpoint of AWS ElastiCache lists."""

    address: Address
    refresh: float
    """Seconds between questions."""
    module: Module
    labels: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """What metrics and logs call it."""
        return f"elasticache:{self.address.text}"


DiscoverySource = FileDiscovery | DnsDiscovery | ElastiCacheDiscovery


class Allow(msgspec.Struct, frozen=True):
    """Targets that ``/scrape`` may read on top of the configured servers."""

    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    """Checked against the IP address that is dialled."""
    patterns: tuple[str, ...] = ()
    """Shell-like patterns (``*``, ``?``) for ``host:port`` or ``unix:/path``."""


class Web(msgspec.Struct, frozen=True):
    """Where and under which paths the exporter serves."""

    listen: tuple[ListenAddress, ...]
    telemetry_path: str
    scrape_path: str
    enable_lifecycle: bool
    """True to reload the configuration upon a request."""
    systemd_socket: bool = False
    """True to serve on sockets that systemd has opened, instead of ``listen``."""
    config_file: str = ""
    """Path of the web configuration file; empty for none."""
    external_url: str = ""
    """Where clients reach the exporter, without a slash at the end; empty for as they call it."""

    @property
    def prefix(self) -> str:
        """What stands before all paths of the exporter in its external URL."""
        return urlsplit(self.external_url).path


class Log(msgspec.Struct, frozen=True):
    """What is logged (``debug`` to ``error``) and how (``logfmt`` or ``json``)."""

    level: str
    format: str


class HostSettings(msgspec.Struct, frozen=True):
    """What is read of the host."""

    procfs: Path = Path("/proc")
    sysfs: Path = Path("/sys")
    collectors: frozenset[str] = frozenset()
    """Names of the collectors that are switched on."""
    include: re.Pattern[str] | None = None
    """Network devices to read besides the physical ones, by their whole name."""
    exclude: re.Pattern[str] | None = None
    """Network devices not to read, by their whole name."""

    @property
    def net(self) -> Path:
        """Where the host's network files are.

        /proc/net is a link to the reader's own network namespace, so below another root the files
        of process 1 are those of the host.
        """
        return self.procfs / ("net" if self.procfs == Path("/proc") else "1/net")


class Rules(msgspec.Struct, frozen=True):
    """How rules are written."""

    selector: str
    """Matchers that each selector of the rules begins with; empty for none."""
    runbooks: str
    """What stands before the name of a runbook in alerts."""
    dashboards: str
    """What stands before the uid of a dashboard in alerts."""


class Configuration(msgspec.Struct, frozen=True):
    """Everything that the daemon is told from outside."""

    servers: tuple[Server, ...]
    discovery: tuple[DiscoverySource, ...]
    """Where further servers are found."""
    modules: dict[str, Module]
    allow: Allow
    legacy_names: bool
    """True to add the official exporter's misnamed families."""
    findings: bool
    """True to export what is not as it should be."""
    ignored: frozenset[str]
    """The findings that nobody wants to hear of."""
    host: HostSettings
    thresholds: Thresholds
    """Beyond which numbers something is wrong."""
    rules: Rules
    web: Web
    log: Log
