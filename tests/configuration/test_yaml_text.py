"""YAML that is wrong, or that YAML libraries would guess at."""

from collections.abc import Callable

import pytest

TABLE: dict[str | bytes, str] = {
    # keys that stand twice
    "log: {level: info}\nlog: {level: debug}\n": '2:1: not valid YAML: key "log" stands twice: ',
    "servers:\n- address: a\n  address: b\n": '3:3: not valid YAML: key "address" stands twice: ',
    "servers: [{address: a, labels: {x: y, x: z}}]": (
        '1:39: not valid YAML: key "x" stands twice: remove one'
    ),
    "modules:\n  a: {}\n  a: {}\n": '3:3: not valid YAML: key "a" stands twice: remove one',
    # keys that are no text
    "1: 2": '1:1: not valid YAML: key "1" is not text: write it in quotes',
    "1.5: 2": '1:1: not valid YAML: key "1.5" is not text: write it in quotes',
    "yes: 2": '1:1: not valid YAML: key "yes" is not text: write it in quotes',
    "null: 2": '1:1: not valid YAML: key "null" is not text: write it in quotes',
    "2026-01-01: 2": '1:1: not valid YAML: key "2026-01-01" is not text: write it in quotes',
    "modules:\n  1: {}\n": '2:3: not valid YAML: key "1" is not text: write it in quotes',
    "servers: [{address: a, labels: {1: b}}]": '1:33: not valid YAML: key "1" is not text: ',
    "? [a]\n: b": "1:3: not valid YAML: ",
    "{[a]: b}": "1:2: not valid YAML: ",
    "? {a: b}\n: c": "1:3: not valid YAML: ",
    # values that YAML cannot make sense of
    "log: {level: 2001-99-99}": "1:14: not valid YAML: ",
    "log:\n  level: 2001-02-30 25:00:00\n": "2:10: not valid YAML: ",
    "log: {level: !!int abc}": "1:14: not valid YAML: ",
    "log: {level: !!float abc}": "1:14: not valid YAML: ",
    "log: {level: !!bool abc}": "1:14: not valid YAML: ",
    "log: {level: !!timestamp abc}": "1:14: not valid YAML: ",
    "log: {level: !!binary x}": "1:14: not valid YAML: ",
    "log: {level: !!int [a]}": "1:14: not valid YAML: ",
    "log: !!set [a]": "1:6: not valid YAML: ",
    "log: !!omap {a: b}": "1:6: not valid YAML: ",
    "log: !!pairs [a]": "1:15: not valid YAML: ",
    "log: !!map [a]": "1:6: not valid YAML: ",
    "log: !!seq {a: b}": "1:6: not valid YAML: ",
    "log: !!str [a]": "1:6: not valid YAML: ",
    f"log: {{level: {'9' * 5000}}}": "1:14: not valid YAML: ",
    "log: {level: !level x}": "1:14: not valid YAML: ",
    "log: {level: !!python/object:os.system x}": "1:14: not valid YAML: ",
    "<<: 5": "1:5: not valid YAML: ",
    # syntax
    "servers:\n\t- a": "2:1: not valid YAML: found character '\\t' that cannot start any token",
    "a: b: c": "1:5: not valid YAML: mapping values are not allowed here",
    "log: {level: 'info": "1:19: not valid YAML: ",
    "log: {level: info": "1:18: not valid YAML: ",
    "servers:\n - address: [::1]:11211\n": "2:14: not valid YAML: ",
    "web: {listen: [:9150]}": "1:16: not valid YAML: ",
    "a: *b": "1:4: not valid YAML: found undefined alias",
    "- a\nb: c": "2:1: not valid YAML: ",
    "---\nlog: {}\n---\nlog: {}\n": "3:1: not valid YAML: but found another document",
    "%YAML 3.0\n---\n{}": "1:1: not valid YAML: ",
    "log: @a": "1:6: not valid YAML: ",
    "log: `a`": "1:6: not valid YAML: ",
    "log: {}\x00": " not valid YAML: ",
    "log: {}\x07": " not valid YAML: ",
    # bytes
    b"log: \xff": " not UTF-8 text at byte 5",
    b"\xff\xfel\x00o\x00g\x00": " not UTF-8 text at byte 0",
    b"\x1f\x8b\x08\x00": " not UTF-8 text at byte 1",
}
"""A bad file, and how its error begins after the file's name and a colon."""

DEEP = {
    "lists": "[" * 1000 + "]" * 1000,
    "unclosed lists": "[" * 20_000,
    "maps": "{a: " * 1000 + "}" * 1000,
    "blocks": "".join(f"{' ' * i}a:\n" for i in range(1000)),
    "dashes": "- " * 3000 + "a",
    "below a key": "servers: " + "[" * 5000 + "]" * 5000,
}


@pytest.mark.parametrize(("text", "line"), TABLE.items(), ids=lambda text: repr(text)[:40])
def test_bad_yaml_is_one_line(
    refusal: Callable[[str | bytes], str], text: str | bytes, line: str
) -> None:
    """Each kind of bad YAML is answered with its line, its column and the cause."""
    assert refusal(text).startswith(line)


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_deep_nesting_is_one_line(refusal: Callable[[str | bytes], str], text: str) -> None:
    """A file of brackets cannot exhaust the stack."""
    assert refusal(text)


def test_a_structure_that_holds_itself_is_one_line(
    refusal: Callable[[str | bytes], str],
) -> None:
    """An anchor inside of itself is no way into an endless loop."""
    for text in ("servers: &a [*a]", "log: &a {level: *a}", "modules: &a {x: *a}", "&a [*a]"):
        assert refusal(text)


def test_an_alias_bomb_is_one_line(refusal: Callable[[str | bytes], str]) -> None:
    """Few lines that stand for a billion values cost nothing."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    assert refusal("\n".join(lines)).startswith('1: a0: unknown key "a0"')
    merged = ["servers:", "- &m0 {address: a}"]
    merged += [f"- &m{i} {{<<: [*m{i - 1}, *m{i - 1}]}}" for i in range(1, 12)]
    assert "the same server" in refusal("\n".join(merged))
