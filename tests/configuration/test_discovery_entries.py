"""Sources of servers in the configuration file: what they mean, and errors of one line."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from exporter.configuration import (
    ConfigFile,
    Configuration,
    DnsDiscovery,
    ElastiCacheDiscovery,
    FileDiscovery,
    build,
)

Read = Callable[[str], Configuration]
LABEL_NAME = "not a label name: use letters, digits and _, no digit or __ first"
PORT = "SRV records bring the port, A and AAAA do not: "
DURATION = "write a duration such as"


def dns(text: str) -> str:
    """Return a file with one entry of DNS on line 4."""
    return f"discovery:\n  dns:\n  - name: cache.test\n    {text}\n"


def cluster(text: str) -> str:
    """Return a file with one entry of ElastiCache on line 4."""
    return f"discovery:\n  elasticache:\n  - endpoint: cfg.test\n    {text}\n"


TABLE = {
    # the shape
    "discovery: []": "1: discovery: expected `object`, got `array`: write a map of keys and values",
    "discovery:\n  file: [a.yml]\n": '2: discovery.file: unknown key "file", did you mean "files"?',
    "discovery:\n  files: a.yml\n": "2: discovery.files: expected `array`, got `str`: write a list",
    "discovery:\n  files:\n  - a.yml\n  - 7\n": "4: discovery.files[1]: expected `str`, got",
    "discovery:\n  files: ['']\n": "2: discovery.files[0]: ",
    "discovery:\n  dns: {name: x}\n": "2: discovery.dns: expected `array`, got `object`: ",
    "discovery:\n  dns:\n  - type: A\n": '3: discovery.dns[0]: key "name" is missing: add it',
    "discovery:\n  elasticache:\n  - {}\n": (
        '3: discovery.elasticache[0]: key "endpoint" is missing: add it'
    ),
    dns("prot: 1"): '4: discovery.dns[0].prot: unknown key "prot", did you mean "port"?',
    cluster("port: 1"): '4: discovery.elasticache[0].port: unknown key "port", known keys: ',
    # DNS
    dns("type: SRV\n    port: 11211"): f"5: discovery.dns[0].port: {PORT}remove port",
    dns("type: A"): f"3: discovery.dns[0].port: {PORT}add port: 11211",
    dns("type: AAAA"): f"3: discovery.dns[0].port: {PORT}add port: 11211",
    dns("labels: {}"): f"3: discovery.dns[0].port: {PORT}add port: 11211",
    dns("type: MX"): "4: discovery.dns[0].type: invalid enum value 'MX': write one of ",
    dns("port: 0"): "4: discovery.dns[0].port: ",
    dns("port: 65536"): "4: discovery.dns[0].port: ",
    dns(
        "port: '1'"
    ): "4: discovery.dns[0].port: expected `int | null`, got `str`: write a whole numb",
    "discovery: {dns: [{name: 'a b', port: 1}]}": (
        '1: discovery.dns[0].name: "a b" does not fit: write a host name'
    ),
    "discovery: {dns: [{name: 'a:1', port: 1}]}": '1: discovery.dns[0].name: "a:1" does not fit: ',
    "discovery: {dns: [{name: '', port: 1}]}": "1: discovery.dns[0].name: ",
    "discovery: {dns: [{name: a..b, port: 1}]}": "1: discovery.dns[0].name: ",
    f"discovery: {{dns: [{{name: {'a' * 64}.test, port: 1}}]}}": "1: discovery.dns[0].name: ",
    # durations
    dns("refresh: 30"): "4: discovery.dns[0].refresh: ",
    dns("refresh: soon\n    port: 1"): '4: discovery.dns[0].refresh: "soon" does not fit: write',
    dns("refresh: 0s\n    port: 1"): "4: discovery.dns[0].refresh: must be from ",
    dns("refresh: 2h\n    port: 1"): "4: discovery.dns[0].refresh: must be from ",
    cluster("refresh: 0s"): "4: discovery.elasticache[0].refresh: must be from ",
    # modules
    dns("module: slow\n    port: 1"): (
        '4: discovery.dns[0].module: no module is named "slow": use one of default'
    ),
    cluster("module: slow"): (
        '4: discovery.elasticache[0].module: no module is named "slow": use one of default'
    ),
    # labels
    dns("port: 1\n    labels:\n      a-b: x"): f"6: discovery.dns[0].labels.a-b: {LABEL_NAME}",
    dns("port: 1\n    labels: {slab: x}"): (
        "5: discovery.dns[0].labels.slab: this label is set by the exporter: choose another name"
    ),
    cluster("labels: {instance: x}"): (
        "4: discovery.elasticache[0].labels.instance: this label is set by Prometheus: choose"
    ),
    cluster("labels: {__param_module: x}"): (
        f"4: discovery.elasticache[0].labels.__param_module: {LABEL_NAME}"
    ),
    # endpoints
    "discovery:\n  elasticache:\n  - endpoint: a:99999\n": (
        "3: discovery.elasticache[0].endpoint: address \"a:99999\": port '99999' is not a number"
    ),
    "discovery: {elasticache: [{endpoint: 'a,b'}]}": (
        '1: discovery.elasticache[0].endpoint: address "a,b" is a list'
    ),
    "discovery: {elasticache: [{endpoint: ''}]}": (
        '1: discovery.elasticache[0].endpoint: address "" is no memcached address'
    ),
    "modules: {tls: {tls: {}}}\ndiscovery:\n  elasticache:\n  - endpoint: /s\n    module: tls\n": (
        '5: discovery.elasticache[0].module: module "tls" speaks TLS, which a unix socket cannot'
    ),
    # the same source twice
    "discovery:\n  files: [a.yml, a.yml]\n": " is there twice: remove one",
    "discovery:\n  files: [a.yml, ./a.yml]\n": " is there twice: remove one",
    "discovery: {dns: [{name: a, port: 1, module: default}, {name: a, port: 1, refresh: 1s}]}": (
        '1: discovery: "dns:A:a:1" is there twice: remove one'
    ),
    "discovery: {dns: [{name: _x._tcp.a, type: SRV}, {name: _x._tcp.a, type: SRV}]}": (
        '1: discovery: "dns:SRV:_x._tcp.a" is there twice: remove one'
    ),
    "discovery: {elasticache: [{endpoint: a}, {endpoint: a}]}": (
        '1: discovery: "elasticache:a" is there twice: remove one'
    ),
    # patterns that can match nothing
    "discovery:\n  files:\n  - a.yml\n  - '*/b.yml'\n": "4: discovery.files[1]: ",
    # the paths
    "web: {telemetry_path: /sd}": '1: web.telemetry_path: "/sd" is taken by the exporter: use ano',
    "web: {scrape_path: /sd}": '1: web.scrape_path: "/sd" is taken by the exporter: use another',
    # the external URL
    "web: {external_url: mon.example}": '1: web.external_url: "mon.example" does not fit: ',
    "web: {external_url: 'ftp://a'}": '1: web.external_url: "ftp://a" does not fit: write a URL',
    "web: {external_url: 'http://a/?x'}": '1: web.external_url: "http://a/?x" does not fit: write',
    "web: {external_url: 'http://u:p@a/'}": '1: web.external_url: "http://u:p@a/" does not fit: ',
    "web: {external_url: 'http://a:99999'}": "1: web.external_url: ",
    "web: {external_url: 'http://[a]/'}": "1: web.external_url: ",
}
"""A bad file, and how its error begins after the file's name and a colon, or how it ends."""


@pytest.mark.parametrize(("text", "line"), TABLE.items())
def test_a_wrong_source_is_one_line(refusal: Callable[[str], str], text: str, line: str) -> None:
    """Each is answered with file, line, key and remedy."""
    message = refusal(text)
    assert message.startswith(line) if line[0].isdigit() else message.endswith(line)
    assert ": " in message.split(": ", 1)[1]


def test_sources(read: Read, tmp_path: Path) -> None:
    """They come in the order of the kinds in the documentation, with their defaults."""
    configuration = read(
        "modules: {brief: {sections: []}}\n"
        "discovery:\n"
        "  elasticache:\n"
        "  - endpoint: cfg.test\n"
        "  - {endpoint: 'cfg.test:11212', refresh: 5m, module: brief, labels: {b: 2x, a: 1x}}\n"
        "  dns:\n"
        "  - {name: cache.test, port: 11212}\n"
        "  - {name: cache.test, port: 11213, type: AAAA}\n"
        "  - {name: _x._tcp.cache.test, type: SRV, refresh: 500ms, module: brief}\n"
        "  files: ['sd/*.yml', /etc/cache.json]\n"
    )
    default, brief = configuration.modules["default"], configuration.modules["brief"]
    assert configuration.servers == ()
    files, records, clusters = (
        [source for source in configuration.discovery if isinstance(source, kind)]
        for kind in (FileDiscovery, DnsDiscovery, ElastiCacheDiscovery)
    )
    assert [*files, *records, *clusters] == list(configuration.discovery)
    assert [source.name for source in configuration.discovery] == [
        f"file:{tmp_path}/sd/*.yml",
        "file:/etc/cache.json",
        "dns:A:cache.test:11212",
        "dns:AAAA:cache.test:11213",
        "dns:SRV:_x._tcp.cache.test",
        "elasticache:cfg.test",
        "elasticache:cfg.test:11212",
    ]
    assert [s.refresh for s in configuration.discovery if isinstance(s, DnsDiscovery)] == [
        30,
        30,
        0.5,
    ]
    assert [s.module for s in configuration.discovery if isinstance(s, DnsDiscovery)] == [
        default,
        default,
        brief,
    ]
    first, second = (s for s in configuration.discovery if isinstance(s, ElastiCacheDiscovery))
    assert (first.address.port, first.refresh, first.module, first.labels) == (
        11211,
        60,
        default,
        (),
    )
    assert (second.refresh, second.module) == (300, brief)
    assert dict(second.labels) == {"a": "1x", "b": "2x"}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("{}", 1),
        ("discovery: {}", 1),
        ("discovery: {files: [], dns: []}", 1),
        ("discovery: {files: [a]}", 0),
        ("discovery: {dns: [{name: a, port: 1}]}", 0),
        ("discovery: {elasticache: [{endpoint: a}]}", 0),
        ("discovery: {files: [a]}\nservers: [{address: a}, {address: b}]", 2),
        ("servers: []", 0),
    ],
)
def test_localhost_is_read_only_without_any_source(read: Read, text: str, number: int) -> None:
    """Where servers are named or found, none is made up."""
    assert len(read(text).servers) == number


def test_labels_of_modules() -> None:
    """They are on the servers of the module, however found; a server's own ones count more."""
    file = msgspec.convert(
        {
            "modules": {"far": {"labels": {"zone": "far", "team": "a"}}},
            "servers": [
                {"address": "a:1", "module": "far", "labels": {"team": "b", "x": "y"}},
                {"address": "b:1"},
            ],
            "discovery": {
                "dns": [
                    {"name": "c.example", "port": 1, "module": "far", "labels": {"zone": "near"}}
                ],
            },
        },
        ConfigFile,
    )
    configuration = build(file, str)
    first, second = configuration.servers
    assert dict(first.labels) == {"zone": "far", "team": "b", "x": "y"}
    assert second.labels == ()
    (source,) = configuration.discovery
    assert isinstance(source, DnsDiscovery)
    assert dict(source.labels) == {"zone": "near", "team": "a"}
