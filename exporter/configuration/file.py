"""The shape of the configuration file. Data only: what the values mean is settled in ``build``."""

from typing import Annotated, Any, Literal

import msgspec

from exporter.catalogue.host.collectors import CollectorName
from exporter.catalogue.sections import DEFAULT_SECTIONS, SectionName
from exporter.durations import PATTERN as DURATION_PATTERN
from exporter.durations import REMEDY as DURATION_REMEDY
from exporter.health.thresholds import Thresholds


def _text(remedy: str, pattern: str | None = None) -> msgspec.Meta:
    """Describe a text field: the remedy is both its schema description and its error text."""
    return msgspec.Meta(pattern=pattern, description=remedy[0].upper() + remedy[1:] + ".")


AddressText = Annotated[
    str, _text('write host:port, "[IPv6]:port" in quotes, /path/of/socket or unix:/path/of/socket')
]
ListenText = Annotated[str, _text('write ":9150", "127.0.0.1:9150" or "[::1]:9150", in quotes')]
DurationText = Annotated[str, _text(DURATION_REMEDY, DURATION_PATTERN)]
PathText = Annotated[
    str, _text("write an absolute URL path such as /metrics", r"^/[A-Za-z0-9._~/-]*$(?!\n)")
]
KeyText = Annotated[
    str,
    _text(
        "write a key of memcached: 1 to 250 printable ASCII characters without blanks",
        r"^[!-~]{0,250}$(?!\n)",
    ),
]
AllowText = Annotated[
    str,
    _text(
        'write an address or range such as "10.0.0.0/8",'
        ' or a pattern such as "*.cache.example:11211"'
    ),
]
UrlText = Annotated[
    str,
    _text(
        "write a URL such as https://monitoring.example/memcached, without query",
        r"^(https?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?)?$(?!\n)",
    ),
]
LogLevel = Literal["debug", "info", "warn", "error"]
LogFormat = Literal["logfmt", "json"]


class _Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class ServerEntry(_Strict, frozen=True, kw_only=True):
    """One memcached server that ``/metrics`` reads."""

    address: AddressText
    module: str = "default"
    labels: dict[str, str] = {}
    pid_file: str = ""


ServerText = Annotated[
    ServerEntry, msgspec.Meta(description="Write a map such as {address: cache1:11211}.")
]


class ProbeEntry(_Strict, frozen=True, kw_only=True):
    """How the round trip to servers is measured between scrapes."""

    interval: DurationText
    canary_key: KeyText = ""


class TlsEntry(_Strict, frozen=True, kw_only=True):
    """How to speak TLS to servers; paths are relative to this file."""

    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    server_name: str = ""
    min_version: Literal["TLS12", "TLS13"] = "TLS12"
    insecure_skip_verify: bool = False


class AuthEntry(_Strict, frozen=True, kw_only=True):
    """Login to servers that ask for one (memcached -Y)."""

    username: Annotated[str, _text("write a name of one word", r"^[!-~]+$(?!\n)")]
    password_file: str = ""
    password_env: str = ""


class ModuleEntry(_Strict, frozen=True, kw_only=True):
    """How servers are read."""

    labels: dict[str, str] = {}
    timeout: DurationText = "1s"
    sections: list[SectionName] = msgspec.field(default_factory=lambda: list(DEFAULT_SECTIONS))
    assume_no_napi_ids: bool = False
    max_reply_bytes: Annotated[int, msgspec.Meta(ge=65536, le=2**30)] = 16 * 2**20
    top_clients: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0
    max_prefixes: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 100
    probe: ProbeEntry | None = None
    tls: TlsEntry | None = None
    auth: AuthEntry | None = None


class MetricsEntry(_Strict, frozen=True, kw_only=True):
    """What is exported beside the plain metrics."""

    legacy_names: bool = False
    findings: bool = False


class FindingsEntry(_Strict, frozen=True, kw_only=True):
    """What is not as it should be, and is to be told."""

    ignore: list[str] = []


class ScrapeEntry(_Strict, frozen=True, kw_only=True):
    """Which targets ``/scrape`` may read."""

    allow: list[AllowText] = []


class WebEntry(_Strict, frozen=True, kw_only=True):
    """Where the exporter serves."""

    listen: Annotated[list[ListenText], msgspec.Meta(min_length=1)] = msgspec.field(
        default_factory=lambda: [":9150"]
    )
    telemetry_path: PathText = "/metrics"
    scrape_path: PathText = "/scrape"
    external_url: UrlText = ""
    config_file: str = ""
    enable_lifecycle: bool = False
    systemd_socket: bool = False


class LogEntry(_Strict, frozen=True, kw_only=True):
    """What is logged and how."""

    level: LogLevel = "info"
    format: LogFormat = "logfmt"


class DnsEntry(_Strict, frozen=True, kw_only=True):
    """Servers that a name leads to."""

    name: Annotated[str, _text("write a host name", r"^[A-Za-z0-9._-]{1,254}$(?!\n)")]
    type: Literal["A", "AAAA", "SRV"] = "A"
    port: Annotated[int, msgspec.Meta(ge=1, le=65535)] | None = None
    refresh: DurationText = "30s"
    module: str = "default"
    labels: dict[str, str] = {}


class ElastiCacheEntry(_Strict, frozen=True, kw_only=True):
    """Servers that a configuration endpoint of AWS ElastiCache lists."""

    endpoint: AddressText
    refresh: DurationText = "60s"
    module: str = "default"
    labels: dict[str, str] = {}


class DiscoveryEntry(_Strict, frozen=True, kw_only=True):
    """Where servers are found besides ``servers``."""

    files: list[Annotated[str, _text("write a path, with * if wanted", r"^.")]] = []
    dns: list[DnsEntry] = []
    elasticache: list[ElastiCacheEntry] = []


class DevicesEntry(_Strict, frozen=True, kw_only=True):
    """Which network devices are read; each entry is a regular expression for a whole name."""

    include: list[str] = []
    exclude: list[str] = []


class HostEntry(_Strict, frozen=True, kw_only=True):
    """What is read of the host that the exporter runs on."""

    enabled: bool = True
    procfs: str = "/proc"
    sysfs: str = "/sys"
    devices: DevicesEntry = DevicesEntry()
    collectors: dict[CollectorName, bool] = {}


class RulesEntry(_Strict, frozen=True, kw_only=True):
    """How the rules that `memcached-exporter rules` prints are written."""

    selector: str = ""
    runbooks: str = "alerts/runbooks"
    dashboards: str = "/d"


class ConfigFile(_Strict, frozen=True, kw_only=True):
    """Configuration of memcached-exporter."""

    servers: list[ServerText] | None = None
    modules: dict[str, ModuleEntry] = {}
    metrics: MetricsEntry = MetricsEntry()
    discovery: DiscoveryEntry = DiscoveryEntry()
    scrape: ScrapeEntry = ScrapeEntry()
    host: HostEntry = HostEntry()
    thresholds: Thresholds = Thresholds()
    findings: FindingsEntry = FindingsEntry()
    rules: RulesEntry = RulesEntry()
    web: WebEntry = WebEntry()
    log: LogEntry = LogEntry()


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file, for editors."""
    return msgspec.json.schema(ConfigFile)
