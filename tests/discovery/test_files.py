"""Files in Prometheus' file_sd format: what they mean, and how changes of them are followed."""

import json
import os
from pathlib import Path

import pytest

from exporter.discovery import files as files_module
from exporter.errors import DiscoveryError
from tests.discovery.support import Files, addresses, link, listing
from tests.web.clients import eventually

YAML = """
- targets:
  - cache-1:11212
  - "[::1]"
  labels: {rack: r1}
- targets: [/run/memcached.sock]
- targets: [cache-2]
  labels:
    __param_module: brief
    __metrics_path__: /elsewhere
    __meta_source: cmdb
    zone: b
- targets: []
"""


def test_yaml(files: Files) -> None:
    """All groups are read in order, the module is chosen, and other labels with __ are dropped."""
    files.put("a.yml", YAML)
    finding = files.look()
    assert (finding.trouble, finding.complete) == ("", True)
    assert [(s.address.text, s.address.endpoint) for s in finding.servers] == [
        ("cache-1:11212", "cache-1:11212"),
        ("[::1]", "[::1]:11211"),
        ("/run/memcached.sock", "unix:/run/memcached.sock"),
        ("cache-2", "cache-2:11211"),
    ]
    assert [s.module.name for s in finding.servers] == ["default", "default", "default", "brief"]
    assert [s.labels for s in finding.servers] == [
        (("rack", "r1"),),
        (("rack", "r1"),),
        (),
        (("zone", "b"),),
    ]


GROUPS = [
    {"targets": ["a:1", "b:2"], "labels": {"text": 'é " \\ \n\t/', "empty": ""}},
    {"targets": ["c:3"], "labels": {"__param_module": "brief"}},
]


FORMS = {
    "plain": json.dumps(GROUPS, ensure_ascii=False),
    "escaped": json.dumps(GROUPS),
    "compact": json.dumps(GROUPS, separators=(",", ":")),
    "indented": json.dumps(GROUPS, indent=2),
    "slashes": json.dumps(GROUPS).replace("/", "\\/"),
    "tabs": json.dumps(GROUPS, indent="\t"),
    "tabs and returns": json.dumps(GROUPS, indent="\t").replace("\n", "\r\n"),
}


@pytest.mark.parametrize(
    ("form", "name"),
    [
        *((form, "a.json") for form in FORMS),
        *((form, "a.yml") for form in FORMS if "tabs" not in form),  # which YAML does not have
    ],
)
def test_json(files: Files, form: str, name: str) -> None:
    """JSON as programs write it means what it means as JSON, also in a file of YAML."""
    files.put(name, FORMS[form])
    finding = files.look()
    assert finding.trouble == ""
    assert [(s.address.text, s.module.name, dict(s.labels)) for s in finding.servers] == [
        ("a:1", "default", GROUPS[0]["labels"]),
        ("b:2", "default", GROUPS[0]["labels"]),
        ("c:3", "brief", {}),
    ]


@pytest.mark.parametrize("ascii_only", [True, False])
def test_json_of_characters_beyond_16_bits(files: Files, ascii_only: bool) -> None:
    """JSON in ASCII writes such a character as two escapes, which are one character."""
    files.put(
        "a.json",
        json.dumps([{"targets": ["a"], "labels": {"x": "\U0001f600"}}], ensure_ascii=ascii_only),
    )
    finding = files.look()
    assert finding.trouble == ""
    assert [server.labels for server in finding.servers] == [(("x", "\U0001f600"),)]


NUMBERS = ("7", "007", "0x1f", "1e3", "1.10", "yes", "on", "true", "2024-01-01", "1_000", "12:30")


@pytest.mark.parametrize("value", NUMBERS)
def test_label_values_that_look_like_something_else(files: Files, value: str) -> None:
    """A label's value is the text that stands there, whatever YAML would make of it."""
    files.put("a.yml", f"- targets: [a]\n  labels: {{rack: {value}, on: {value}}}\n")
    (server,) = files.look().servers
    assert server.labels == (("rack", value), ("on", value))


def test_numbers_in_json(files: Files) -> None:
    """Numbers are taken as they are written, as Prometheus does in YAML."""
    files.put("a.json", '[{"targets": ["a"], "labels": {"rack": 7, "row": 1.10, "on": true}}]')
    (server,) = files.look().servers
    assert server.labels == (("rack", "7"), ("row", "1.10"), ("on", "true"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yml", "- targets: [a]\n  labels:\n"),
        ("a.yml", "- targets: [a]\n  labels: null\n"),
        ("a.json", '[{"targets": ["a"], "labels": null}]'),
        ("a.json", '[{"targets": null, "labels": {"x": "y"}}, {"targets": ["a"]}]'),
        ("a.yml", "- targets:\n- targets: [a]\n"),
    ],
)
def test_null_is_nothing(files: Files, name: str, text: str) -> None:
    """Programs in Go write an empty map or list as null, which Prometheus takes as it is meant."""
    files.put(name, text)
    finding = files.look()
    assert (addresses(finding), finding.trouble) == (["a"], "")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yml", ""),
        ("a.yml", "# nobody\n"),
        ("a.yml", "[]"),
        ("a.json", "[]"),
        ("a.json", " [ ]\n"),
    ],
)
def test_no_servers(files: Files, name: str, text: str) -> None:
    """A file may say that there are none."""
    files.put("b.yml", listing("b"))
    files.put(name, text)
    finding = files.look()
    assert (addresses(finding), finding.trouble, finding.complete) == (["b"], "", True)


@pytest.mark.parametrize(("name", "text"), [("a.json", ""), ("a.json", "\n"), ("a.yml", "{}")])
def test_what_prometheus_refuses_too(files: Files, name: str, text: str) -> None:
    """A file that is no list, or JSON that was cut off at 0 bytes, does not take servers away."""
    files.put(name, listing("a"))
    assert files.addresses() == ["a"]
    path = files.put(name, text)
    finding = files.look()
    assert addresses(finding) == ["a"]
    assert finding.trouble.startswith(str(path))


def test_changed_new_and_vanished_files(files: Files) -> None:
    """Each look is of the directory as it is now, in the order of the names."""
    assert files.look().complete
    assert files.addresses() == []
    first = files.put("b.yml", listing("b"))
    assert files.addresses() == ["b"]
    files.put("a.json", listing("a"))
    assert files.addresses() == ["a", "b"]
    files.put("b.yml", listing("b", "c"))
    assert files.addresses() == ["a", "b", "c"]
    first.write_text(listing("d"))  # in place
    assert files.addresses() == ["a", "d"]
    first.unlink()
    finding = files.look()
    assert (addresses(finding), finding.trouble, finding.complete) == (["a"], "", True)


def test_only_changed_files_are_read(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is as it was is not read again."""
    seen: list[str] = []
    read = files_module._read

    def noted(path: Path, *rest: object) -> object:
        seen.append(path.name)
        return read(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(files_module, "_read", noted)
    files.put("a.yml", listing("a"))
    files.put("b.yml", listing("b"))
    for _ in range(3):
        assert files.addresses() == ["a", "b"]
    assert seen == ["a.yml", "b.yml"]
    files.put("b.yml", listing("c"))
    for _ in range(3):
        assert files.addresses() == ["a", "c"]
    assert seen == ["a.yml", "b.yml", "b.yml"]


def test_patterns(files: Files) -> None:
    """A pattern is held against whole names of its directory, and nothing below it."""
    for name in ("a.yml", "b.yaml", "c.yml~", "d.yml.bak"):
        files.put(name, listing(name[0]))
    (files.directory / "sub").mkdir()
    files.put("sub/e.yml", listing("e"))
    for pattern, expected in [("*.yml", "a"), ("?.y*ml", "ab"), ("[!a].ya*", "b"), ("e.yml*", "")]:
        assert Files(files.directory, pattern).addresses() == list(expected), pattern


def test_links_that_are_swapped(files: Files) -> None:
    """A ConfigMap of Kubernetes, whose files are links through one that is swapped, is followed."""
    for version, server in (("..v1", "a"), ("..v2", "b")):
        (files.directory / version).mkdir()
        (files.directory / version / "cache.yml").write_text(listing(server))
    link(files.directory / "..data", "..v1")
    link(files.directory / "cache.yml", "..data/cache.yml")
    found = Files(files.directory, "*.yml")
    assert found.addresses() == ["a"]
    link(files.directory / "..data", "..v2")
    assert found.addresses() == ["b"]
    (files.directory / "..data").unlink()
    finding = found.look()
    assert addresses(finding) == ["b"]
    assert finding.trouble == f"{files.directory}/cache.yml: no such file or directory"
    link(files.directory / "..data", "..v1")
    assert found.addresses() == ["a"]


def test_a_broken_file_keeps_its_own_list(files: Files) -> None:
    """Its last good list stays while others are followed, until it is good again."""
    files.put("a.yml", listing("a1", "a2"))
    files.put("b.yml", listing("b1"))
    assert files.addresses() == ["a1", "a2", "b1"]
    path = files.put("a.yml", "- targets: [a3]\n- targets: [a4\n")
    files.put("b.yml", listing("b2"))
    for _ in range(2):
        finding = files.look()
        assert addresses(finding) == ["a1", "a2", "b2"]
        assert finding.trouble.startswith(f"{path}:3:1: not valid YAML: ")
        assert finding.complete
    files.put("a.yml", listing("a5"))
    finding = files.look()
    assert (addresses(finding), finding.trouble) == (["a5", "b2"], "")


def test_two_broken_files_are_both_named(files: Files) -> None:
    """The trouble of a source is that of all its files."""
    first, second = files.put("a.yml", "- ["), files.put("b.yml", "- {")
    trouble = files.look().trouble
    assert str(first) in trouble
    assert str(second) in trouble


def test_a_file_that_was_never_good(files: Files) -> None:
    """What it would list is not known, so the whole is not complete; what is known counts."""
    files.put("a.yml", listing("a"))
    assert files.look().complete
    files.put("b.yml", "nonsense")
    finding = files.look()
    assert (addresses(finding), finding.complete) == (["a"], False)
    files.put("b.yml", listing("b"))
    finding = files.look()
    assert (addresses(finding), finding.complete, finding.trouble) == (["a", "b"], True, "")


def test_a_missing_file(files: Files) -> None:
    """A file with a plain name must be there, and keeps its list when it goes."""
    found = Files(files.directory, "a.yml")
    missing = f"{files.directory}/a.yml: no such file"
    finding = found.look()
    assert (finding.servers, finding.complete) == ((), False)
    assert finding.trouble.startswith(missing)
    path = files.put("a.yml", listing("a"))
    finding = found.look()
    assert (addresses(finding), finding.complete, finding.trouble) == (["a"], True, "")
    path.unlink()
    finding = found.look()
    assert (addresses(finding), finding.complete) == (["a"], True)
    assert finding.trouble.startswith(missing)
    files.put("a.yml", listing("b"))
    finding = found.look()
    assert (addresses(finding), finding.trouble) == (["b"], "")


def test_no_directory(files: Files) -> None:
    """Without a directory nothing can be said, and the error names it."""
    gone = files.directory / "gone"
    with pytest.raises(DiscoveryError, match=f"^{gone}: no such file or directory$"):
        Files(gone).look()
    gone.write_text("")
    with pytest.raises(DiscoveryError, match=f"^{gone}: not a directory$"):
        Files(gone).look()


def test_a_change_in_place_with_the_time_kept(files: Files) -> None:
    """`cp -p` and the like set back when a file was changed, but not when its inode was."""
    path = files.put("a.yml", listing("a:11211"))
    assert files.addresses() == ["a:11211"]
    status = path.stat()
    path.write_text(listing("a:11212"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    assert eventually(lambda: files.addresses() == ["a:11212"])
