"""Files of servers that cannot be taken: each error names the place and the remedy."""

import os
import threading

import pytest

from exporter.discovery.finding import Finding
from tests.discovery.support import Files, addresses, listing
from tests.resilience.support import is_root
from tests.web.clients import eventually

LABEL_NAME = "not a label name: use letters, digits and _, no digit or __ first"

TABLE = {
    # labels
    "- targets: [a]\n  labels:\n    ok: x\n    slab: x\n": (
        "4: [0].labels.slab: this label is set by the exporter: choose another name"
    ),
    "- targets: [a]\n- targets: [b]\n  labels:\n    server: x\n": (
        "4: [1].labels.server: this label is set by the exporter: choose another name"
    ),
    "- targets: [a]\n  labels:\n    instance: x\n": (
        "3: [0].labels.instance: this label is set by Prometheus: choose another name"
    ),
    "- targets: [a]\n  labels: {job: x}\n": "2: [0].labels.job: this label is set by Prometheus",
    "- targets: [a]\n  labels: {a-b: x}\n": f"2: [0].labels.a-b: {LABEL_NAME}",
    "- targets: [a]\n  labels: {9: x}\n": f"2: [0].labels.9: {LABEL_NAME}",
    "- targets: [a]\n  labels: {a.b: x}\n": f"2: [0].labels.a.b: {LABEL_NAME}",
    "- targets: [a]\n  labels: {é: x}\n": f"2: [0].labels.é: {LABEL_NAME}",
    "- targets: [a]\n  labels: {'': x}\n": LABEL_NAME,
    '- targets: [a]\n  labels: {"x\\ny": x}\n': LABEL_NAME,
    '- targets: [a]\n  labels: {x: "\\ud800"}\n': "2: [0].labels.x: not UTF-8 text",
    "- targets: [a]\n  labels:\n    x: [1]\n": "3: [0].labels.x: expected `str`, got `array`",
    "- targets: [a]\n  labels:\n    x: 1\n    x: 2\n": '4:5: not valid YAML: key "x" stands twice',
    "- targets: [a]\n  labels: [x]\n": "2: [0].labels: expected `object`, got `array`: write a map",
    # modules
    "- targets: [a]\n  labels:\n    __param_module: slow\n": (
        '3: [0].labels.__param_module: no module is named "slow": use one of default, brief'
    ),
    # targets
    "- targets:\n  - a\n  - b:99999\n": (
        "3: [0].targets[1]: address \"b:99999\": port '99999' is not a number from 1 to 65535"
    ),
    "- targets: [a]\n- targets: ['']\n": '2: [1].targets[0]: address "" is no memcached address',
    "- targets: ['::1']\n": '1: [0].targets[0]: address "::1" is ambiguous: write IPv6 in brackets',
    "- targets: [http://a:1/metrics]\n": '1: [0].targets[0]: address "http://a:1/metrics" is a URL',
    "- targets: [unix:run/s]\n": '1: [0].targets[0]: address "unix:run/s" is no socket path',
    "- targets:\n  - [a]\n": "2: [0].targets[0]: expected `str`, got `array`: write text",
    "- targets: a\n": "1: [0].targets: expected `array`, got `str`: write a list",
    # the shape
    "- labels: {a: b}\n": '1: [0]: key "targets" is missing: add it',
    "- tragets: [a]\n": '1: [0].tragets: unknown key "tragets", did you mean "targets"?',
    "- a\n": "1: [0]: expected `object`, got `str`: write a map of keys and values",
    "targets: [a]\n": " expected `array`, got `object`: write a list",
    "nonsense": " expected `array`, got `str`: write a list",
    "- targets: [a\n": "2:1: not valid YAML: ",
    "- targets: [a]\n---\n- targets: [b]\n": "2:1: not valid YAML: but found another document",
    "- targets: [a]\n\tlabels: {}\n": "2:1: not valid YAML: found character '\\t'",
    "\0": "not valid YAML: unacceptable character",
}
"""A bad file, and how its error begins after the file's name and a colon, or what it holds."""


@pytest.mark.parametrize(("text", "line"), TABLE.items())
def test_a_wrong_file_is_one_line(files: Files, text: str, line: str) -> None:
    """Nothing of a wrong file counts, not even its right half, and the error says what to do."""
    path = files.put("a.yml", "- targets: [before]\n")
    assert files.addresses() == ["before"]
    files.put("a.yml", text)
    finding = files.look()
    assert addresses(finding) == ["before"]
    assert finding.trouble.startswith(f"{path}:")
    assert finding.trouble.isprintable()
    rest = finding.trouble.removeprefix(f"{path}:")
    assert rest.startswith(line) if line[0] in "0123456789 " else line in rest


def test_json_has_lines_too(files: Files) -> None:
    """Also in JSON the place is a line, whatever it is indented with."""
    text = '[\n\t{\n\t\t"targets": [\n\t\t\t"a",\n\t\t\t"b:0"\n\t\t]\n\t}\n]\n'
    path = files.put("a.json", text)
    assert files.look().trouble.startswith(f'{path}:5: [0].targets[1]: address "b:0": port')


@pytest.mark.parametrize(
    ("data", "text"),
    [(b"- targets: [\xff]\n", "not UTF-8 text at byte 12"), (b"[" * 5000, "nested too deeply")],
)
def test_odd_bytes(files: Files, data: bytes, text: str) -> None:
    """Bytes that are no text, and brackets without end, are errors of that file alone."""
    files.put("b.yml", listing("b"))
    path = files.directory / "a.yml"
    path.write_bytes(data)
    finding = files.look()
    assert addresses(finding) == ["b"]
    assert finding.trouble == f"{path}: {text}"


def test_what_is_no_file(files: Files) -> None:
    """A directory and a link to nowhere are named, and others are read."""
    files.put("b.yml", listing("b"))
    (files.directory / "a.yml").mkdir()
    (files.directory / "c.yml").symlink_to("nowhere")
    finding = files.look()
    assert addresses(finding) == ["b"]
    assert f"{files.directory}/a.yml: is a directory" in finding.trouble
    assert f"{files.directory}/c.yml: no such file or directory" in finding.trouble
    assert not finding.complete


def test_a_pipe_does_not_hold_up_the_others(files: Files) -> None:
    """A named pipe that nobody writes to is refused, not waited for."""
    os.mkfifo(files.directory / "a.yml")
    files.put("b.yml", listing("b"))
    found: list[Finding] = []
    threading.Thread(target=lambda: found.append(files.look()), daemon=True).start()
    assert eventually(lambda: bool(found))
    assert addresses(found[0]) == ["b"]
    assert f"{files.directory}/a.yml: " in found[0].trouble


@pytest.mark.skipif(is_root(), reason="root may read everything")
def test_forbidden_files(files: Files) -> None:
    """A file that may not be read keeps its list, and is read as soon as it may."""
    path = files.put("a.yml", listing("a"))
    assert files.addresses() == ["a"]
    path.write_text(listing("a", "b"))
    path.chmod(0)
    finding = files.look()
    assert (addresses(finding), finding.trouble) == (["a"], f"{path}: permission denied")
    path.chmod(0o600)
    assert files.addresses() == ["a", "b"]
