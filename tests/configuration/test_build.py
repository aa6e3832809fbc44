"""What the file's data mean: cross-checks, and the configuration that comes out."""

from collections.abc import Callable
from ipaddress import ip_network

import pytest

from exporter.configuration import Configuration

LABEL_NAME = "not a label name: use letters, digits and _, no digit or __ first"
RESERVED = "this label is set by the exporter: choose another name"
PROMETHEUS = "this label is set by Prometheus: choose another name"

TABLE = {
    # addresses
    "servers:\n- address: a\n- address: host:99999\n": (
        "3: servers[1].address: address \"host:99999\": port '99999' is not a number from 1 to"
        " 65535"
    ),
    "servers: [{address: 'a:1,b:2'}]": (
        '1: servers[0].address: address "a:1,b:2" is a list: give each address on its own'
    ),
    "servers: [{address: tcp/11211}]": '1: servers[0].address: address "tcp/11211" has a charac',
    "servers: [{address: “x:1”}]": '1: servers[0].address: address "“x:1”" has a character',
    "servers: [{address: ''}]": '1: servers[0].address: address "" is no memcached address: ',
    "servers:\n- address: ::1\n": '2: servers[0].address: address "::1" is ambiguous: write IPv6',
    'servers: [{address: "\\ud800"}]': "1: servers[0].address: address '\\ud800' ",
    'servers: [{address: "/\\ud800"}]': "1: servers[0].address: address '/\\ud800' ",
    # the same server twice
    "servers:\n- address: a\n- address: b\n- address: A:11211\n": (
        '4: servers[2].address: "A:11211" is the same server as'
    ),
    "servers: [{address: /s}, {address: 'unix:/s'}]": (
        '1: servers[1].address: "unix:/s" is the same server as'
    ),
    "servers: [{address: '[::1]'}, {address: '[0:0:0::1]:11211'}]": (
        '1: servers[1].address: "[0:0:0::1]:11211" is the same server as'
    ),
    # modules
    "servers:\n- address: a\n  module: slow\n": (
        '3: servers[0].module: no module is named "slow": use one of default'
    ),
    "servers: [{address: a, module: Slow}]\nmodules: {slow: {}, fast: {}}": (
        '1: servers[0].module: no module is named "Slow": use one of default, slow, fast'
    ),
    "modules:\n  slow:\n    timeout: 0s\n": "3: modules.slow.timeout: must be from 1ms to 1h",
    "modules: {slow: {timeout: 1us}}": "1: modules.slow.timeout: must be from 1ms to 1h",
    "modules: {slow: {timeout: 1h1ms}}": "1: modules.slow.timeout: must be from 1ms to 1h",
    f"modules: {{slow: {{timeout: {'9' * 400}s}}}}": "1: modules.slow.timeout: must be from 1ms",
    "modules:\n  a:\n    probe: {interval: 0s}\n": "3: modules.a.probe.interval: must be from 1ms",
    "modules: {'': {}}": "1: modules.: not a module name: use letters, digits, _ and -",
    "modules: {a b: {}}": "1: modules.a b: not a module name: use letters, digits, _ and -",
    # findings
    "findings:\n  ignore:\n  - udp_on\n  - memory_hihg\n": (
        '4: findings.ignore[1]: "memory_hihg" is no finding: did you mean memory_high?'
    ),
    "findings: {ignore: [x]}": (
        '1: findings.ignore[0]: "x" is no finding: `check --list` prints all'
    ),
    # labels
    "servers:\n- address: a\n  labels:\n    a-b: x\n": f"4: servers[0].labels.a-b: {LABEL_NAME}",
    "servers: [{address: a, labels: {9a: x}}]": f"1: servers[0].labels.9a: {LABEL_NAME}",
    "servers: [{address: a, labels: {__a: x}}]": f"1: servers[0].labels.__a: {LABEL_NAME}",
    "servers: [{address: a, labels: {é: x}}]": f"1: servers[0].labels.é: {LABEL_NAME}",
    "servers: [{address: a, labels: {'a b': x}}]": f"1: servers[0].labels.a b: {LABEL_NAME}",
    "servers: [{address: a, labels: {'': x}}]": LABEL_NAME,
    'servers: [{address: a, labels: {"a\\n": x}}]': LABEL_NAME,
    "servers: [{address: a, labels: {server: x}}]": f"1: servers[0].labels.server: {RESERVED}",
    "servers: [{address: a, labels: {slab: x}}]": f"1: servers[0].labels.slab: {RESERVED}",
    "servers: [{address: a, labels: {section: x}}]": f"1: servers[0].labels.section: {RESERVED}",
    "servers: [{address: a, labels: {command: x}}]": f"1: servers[0].labels.command: {RESERVED}",
    "servers: [{address: a, labels: {job: x}}]": f"1: servers[0].labels.job: {PROMETHEUS}",
    "servers: [{address: a, labels: {instance: x}}]": (
        f"1: servers[0].labels.instance: {PROMETHEUS}"
    ),
    'servers: [{address: a, labels: {x: "\\ud800"}}]': "1: servers[0].labels.x: not UTF-8 text",
    # the allow-list
    "scrape:\n  allow:\n  - '*'\n  - 10.0.0.1/8\n": '4: scrape.allow[1]: "10.0.0.1/8" is neither',
    "scrape: {allow: ['10.0.0.0/33']}": '1: scrape.allow[0]: "10.0.0.0/33" is neither a network',
    "scrape: {allow: ['']}": '1: scrape.allow[0]: "" is neither a network',
    "scrape: {allow: [' *']}": '1: scrape.allow[0]: " *" is neither a network',
    "scrape: {allow: ['http://a']}": '1: scrape.allow[0]: "http://a" is neither a network',
    "scrape: {allow: ['host:99999']}": '1: scrape.allow[0]: "host:99999" is neither a network',
    "scrape: {allow: ['[::1']}": '1: scrape.allow[0]: "[::1" is neither a network',
    "scrape: {allow: ['a:b:c']}": '1: scrape.allow[0]: "a:b:c" is neither a network',
    "scrape: {allow: ['unix:s']}": '1: scrape.allow[0]: "unix:s" is neither a network',
    "scrape: {allow: ['a,b']}": '1: scrape.allow[0]: "a,b" is neither a network',
    'scrape: {allow: ["a\\nb"]}': "1: scrape.allow[0]: 'a\\nb' is neither a network",
    # labels of modules
    "modules:\n  far:\n    labels: {server: x}": "3: modules.far.labels.server: this label is set",
    "modules: {far: {labels: {a-b: x}}}": "1: modules.far.labels.a-b: not a label name",
    # the web
    "web:\n  listen:\n  - ':9150'\n  - '9150'\n": '4: web.listen[1]: address "9150" is a port',
    "web: {listen: ['host']}": '1: web.listen[0]: address "host" has no port: write host:9150',
    "web: {telemetry_path: /}": '1: web.telemetry_path: "/" is taken by the exporter: use another',
    "web: {telemetry_path: /server}": '1: web.telemetry_path: "/server" is taken by the exporter',
    "web: {scrape_path: /-/x}": '1: web.scrape_path: "/-/x" is taken by the exporter: use another',
    "web:\n  telemetry_path: /a\n  scrape_path: /a\n": "3: web.scrape_path: equal to ",
    "web: {telemetry_path: /scrape}": "equal to ",
}
"""A bad file, and how its error begins after the file's name and a colon, or what it holds."""


@pytest.mark.parametrize(("text", "line"), TABLE.items())
def test_a_wrong_meaning_is_one_line(refusal: Callable[[str], str], text: str, line: str) -> None:
    """Each wrong value is answered with file, line, key, value and remedy."""
    message = refusal(text)
    assert message.startswith(line) if line[0].isdigit() else line in message


def test_servers_with_modules_and_labels(read: Callable[[str], Configuration]) -> None:
    """Servers keep their order and text, and have their module and labels."""
    configuration = read(
        "servers:\n"
        "- address: Web-1:11212\n"
        "  labels: {cluster: web, rack: r1}\n"
        "- address: /run/m.sock\n"
        "  module: slow\n"
        "- address: '[::1]'\n"
        "modules:\n"
        "  slow: {timeout: 2s500ms, sections: [slabs, items, slabs], max_reply_bytes: 65536}\n"
        "  default: {timeout: 300ms, assume_no_napi_ids: true}\n"
    )
    assert [server.address.text for server in configuration.servers] == [
        "Web-1:11212",
        "/run/m.sock",
        "[::1]",
    ]
    first, second, third = configuration.servers
    assert first.labels == (("cluster", "web"), ("rack", "r1"))
    assert (second.module.name, second.module.timeout) == ("slow", 2.5)
    assert second.module.sections[0] == "stats"
    assert sorted(second.module.sections) == ["items", "slabs", "stats"]
    assert second.module.max_reply_bytes == 65536
    assert third.module is first.module is configuration.modules["default"]
    assert third.module.timeout == pytest.approx(0.3)
    assert third.module.assume_no_napi_ids
    assert not configuration.legacy_names


def test_what_must_be_asked_for(read: Callable[[str], Configuration]) -> None:
    """Costly sections, probes and old names are off by default, and on when the file says so."""
    configuration = read(
        "modules:\n"
        "  all:\n"
        "    sections: [conns, sizes, detail, extstore]\n"
        "    top_clients: 5\n"
        "    max_prefixes: 7\n"
        "    probe: {interval: 5s, canary_key: canary}\n"
        "metrics: {legacy_names: true}\n"
    )
    default, costly = configuration.modules["default"], configuration.modules["all"]
    assert {"conns", "sizes", "detail", "extstore"}.isdisjoint(default.sections)
    assert set(costly.sections) == {"stats", "conns", "sizes", "detail", "extstore"}
    assert (default.top_clients, default.probe_interval, default.canary_key) == (0, 0, "")
    assert (costly.top_clients, costly.max_prefixes) == (5, 7)
    assert (costly.probe_interval, costly.canary_key) == (5, "canary")
    assert configuration.legacy_names


def test_no_servers_is_not_the_default_server(read: Callable[[str], Configuration]) -> None:
    """An empty list means no server; only without the key is localhost read."""
    assert read("servers: []").servers == ()
    assert len(read("modules: {}").servers) == 1


@pytest.mark.parametrize("sections", ["[]", "[stats]"])
def test_stats_are_always_read(read: Callable[[str], Configuration], sections: str) -> None:
    """The first section cannot be left out, since it says whether the server is up."""
    configuration = read(f"modules: {{default: {{sections: {sections}}}}}")
    assert configuration.modules["default"].sections == ("stats",)


def test_the_allow_list_is_sorted_out(read: Callable[[str], Configuration]) -> None:
    """Networks of both families and patterns come apart; a pattern's port is 11211 by default."""
    configuration = read(
        "scrape: {allow: [10.0.0.0/8, 127.0.0.1, '2001:DB8::/32', '*', 'Cache-?.Example:1121?',"
        " '[::1]', '[::1]:11212', '*:*', /run/*.sock, 'unix:/s']}"
    )
    assert set(configuration.allow.networks) == {
        ip_network("10.0.0.0/8"),
        ip_network("127.0.0.1/32"),
        ip_network("2001:db8::/32"),
    }
    assert set(configuration.allow.patterns) == {
        "*:11211",
        "cache-?.example:1121?",
        "[::1]:11211",
        "[::1]:11212",
        "*:*",
        "unix:/run/*.sock",
        "unix:/s",
    }


def test_the_web(read: Callable[[str], Configuration]) -> None:
    """Places to listen and paths are taken over."""
    web = read(
        "web: {listen: [':9151', '[::1]:9152', 'localhost:0'], telemetry_path: /a/b.c,"
        " scrape_path: /~probe_1/}"
    ).web
    assert [(place.host, place.port) for place in web.listen] == [
        ("", 9151),
        ("::1", 9152),
        ("localhost", 0),
    ]
    assert (web.telemetry_path, web.scrape_path) == ("/a/b.c", "/~probe_1/")
