"""`stats detail dump`: exact numbers per prefix, a cap, and series that stay what they are."""

from collections.abc import Mapping

import pytest

from exporter.memcached.aggregation import Limits
from tests.memcached.support import Samples
from tests.sections.support import body, family, raw, samples, translate

NAMES = ("gets", "get_hits", "sets", "deletes")
Numbers = tuple[int, int, int, int]


def dump(numbers: Mapping[str, Numbers]) -> dict[str, bytes]:
    """Return a dump as memcached prints it."""
    lines = (f"PREFIX {p} get {g} hit {h} set {s} del {d}" for p, (g, h, s, d) in numbers.items())
    return {"detail": body(*lines)}


def shown(found: Samples) -> dict[str, tuple[float, ...]]:
    """Return gets, hits, sets and deletes by prefix."""
    by_name = [family(found, f"memcached_prefix_{name}_total") for name in NAMES]
    assert all(by_name[0].keys() == other.keys() for other in by_name)
    return {prefix: tuple(numbers[prefix,] for numbers in by_name) for (prefix,) in by_name[0]}


@pytest.mark.parametrize(
    ("case", "user"), [("deb1618-misc", (222, 64, 37, 80)), ("new-misc", (215, 84, 49, 80))]
)
def test_recorded_prefixes(case: str, user: Numbers) -> None:
    """Recorded dumps have seven prefixes, each with its four numbers."""
    recorded = raw(case, "detail")
    assert recorded is not None
    found = shown(samples({"detail": recorded}))
    assert set(found) == {"user", "blob", "doc", "session", "nosuch", "page", "frag"}
    assert found["user"] == user
    assert found["nosuch"] == (0, 0, 0, 10)
    text = recorded.decode()
    for prefix, (gets, hits, sets, deletes) in found.items():
        line = f"PREFIX {prefix} get {gets:.0f} hit {hits:.0f} set {sets:.0f} del {deletes:.0f}\r\n"
        assert line in text


def test_no_prefix_and_no_rest() -> None:
    """A server that does not count sends nothing, and no `other` is made up."""
    assert shown(samples(dump({}))) == {}
    assert shown(samples(dump({"a": (1, 1, 0, 0)}), Limits(max_prefixes=1))) == {"a": (1, 1, 0, 0)}


def test_the_busiest_prefixes_are_kept() -> None:
    """With more prefixes than the cap those with most commands have series, the rest is a sum."""
    given = dump({f"p{n}": (n, 0, 10 * n, 1) for n in range(1, 11)})
    found = shown(samples(given, Limits(max_prefixes=3)))
    assert found == {
        "p10": (10, 0, 100, 1),
        "p9": (9, 0, 90, 1),
        "p8": (8, 0, 80, 1),
        "other": (28, 0, 280, 7),
    }


def test_a_prefix_called_other_is_in_the_rest() -> None:
    """The name of the rest is no prefix's, so a prefix of that name is a part of the rest."""
    given = dump({"other": (5, 4, 3, 2), "a": (1, 1, 1, 1)})
    assert shown(samples(given)) == {"a": (1, 1, 1, 1), "other": (5, 4, 3, 2)}
    many = dump({"other": (500, 4, 3, 2), "a": (9, 1, 1, 1), "b": (1, 0, 0, 0)})
    found = shown(samples(many, Limits(max_prefixes=1)))
    assert found == {"a": (9, 1, 1, 1), "other": (501, 4, 3, 2)}


def test_a_kept_prefix_stays_when_others_overtake_it() -> None:
    """No series changes its meaning: `other` never falls while the server counts on."""
    limits = Limits(max_prefixes=2)
    before = shown(
        samples(dump({"a": (10, 0, 0, 0), "b": (5, 0, 0, 0), "c": (1, 0, 0, 0)}), limits)
    )
    assert before == {"a": (10, 0, 0, 0), "b": (5, 0, 0, 0), "other": (1, 0, 0, 0)}
    rest = before["other"][0]
    for step in range(1, 50):
        numbers: dict[str, Numbers] = {
            "c": (1 + 100 * step, 0, 0, 0),
            "new": (50 * step, 0, 0, 0),
            "b": (5, 0, 0, 0),
            "a": (10 + step, 0, 0, 0),
        }
        found = shown(samples(dump(numbers), limits))
        assert set(found) == {"a", "b", "other"}
        assert found["a"] == (10 + step, 0, 0, 0)
        assert found["b"] == (5, 0, 0, 0)
        assert found["other"][0] == 1 + 150 * step > rest
        rest = found["other"][0]


def test_room_is_filled_as_prefixes_come() -> None:
    """New prefixes take series while there are some, without taking those of others."""
    limits = Limits(max_prefixes=2)
    assert set(shown(samples(dump({"a": (1, 0, 0, 0)}), limits))) == {"a"}
    given: dict[str, Numbers] = {"a": (1, 0, 0, 0), "b": (2, 0, 0, 0), "c": (9, 0, 0, 0)}
    found = shown(samples(dump(given), limits))
    assert found == {"a": (1, 0, 0, 0), "c": (9, 0, 0, 0), "other": (2, 0, 0, 0)}


def test_a_reset_makes_room() -> None:
    """Prefixes that are gone, as after `stats reset`, leave their series to those that come."""
    limits = Limits(max_prefixes=2)
    first = dump({"a": (9, 0, 0, 0), "b": (8, 0, 0, 0), "c": (7, 0, 0, 0)})
    assert set(shown(samples(first, limits))) == {"a", "b", "other"}
    assert shown(samples(dump({}), limits)) == {}
    second = dump({"c": (2, 0, 0, 0), "d": (1, 0, 0, 0)})
    assert shown(samples(second, limits)) == {"c": (2, 0, 0, 0), "d": (1, 0, 0, 0)}
    third = dump({"c": (3, 0, 0, 0), "d": (1, 0, 0, 0), "a": (99, 0, 0, 0)})
    assert set(shown(samples(third, limits))) == {"c", "d", "other"}


@pytest.mark.parametrize(
    "name",
    [
        "",
        "a b",
        'say "hi"',
        "back\\slash",
        "new\nline",
        "tab\t",
        "get 1 hit 2 set 3 del 4",
        "{x=1}",
    ],
)
def test_odd_prefixes(name: str) -> None:
    """Whatever characters a prefix has, it comes back from the page as it is."""
    assert shown(samples(dump({name: (4, 3, 2, 1), "b": (1, 0, 0, 0)}))) == {
        name: (4, 3, 2, 1),
        "b": (1, 0, 0, 0),
    }


def test_prefixes_in_other_alphabets() -> None:
    """UTF-8 is shown as what it says."""
    line = "PREFIX Müller-日本 get 4 hit 3 set 2 del 1\r\nEND\r\n".encode()
    assert shown(samples({"detail": line})) == {"Müller-日本": (4, 3, 2, 1)}


def test_prefixes_that_are_no_text() -> None:
    """Names that are not UTF-8 are shown somehow, and none of their numbers is lost."""
    lines = [b"PREFIX \xff get 1 hit 1 set 1 del 0", b"PREFIX \xfe get 2 hit 0 set 4 del 8", b"END"]
    found = shown(samples({"detail": b"".join(line + b"\r\n" for line in lines)}))
    assert [sum(numbers) for numbers in zip(*found.values(), strict=True)] == [3, 1, 5, 8]


@pytest.mark.parametrize(
    "line",
    [
        "PREFIX a get 1 hit 2 set 3",
        "PREFIX a get -1 hit 2 set 3 del 4",
        "PREFIX a get x hit 2 set 3 del 4",
        "PREFIX a get 1.5 hit 2 set 3 del 4",
        f"PREFIX a get {'9' * 5000} hit 2 set 3 del 4",
        "PREFIX a get 1 hit 2 set 3 del 4 ",
        "NOISE",
    ],
    ids=lambda line: line[:30],
)
def test_malformed_lines_cost_nothing_else(line: str) -> None:
    """A line that is no prefix with four numbers is left out."""
    assert shown(samples({"detail": body("PREFIX ok get 1 hit 2 set 3 del 4", line)})) == {
        "ok": (1, 2, 3, 4)
    }


def test_large_numbers_are_exact() -> None:
    """Counts of up to fifteen digits are passed on as they are."""
    result = translate(dump({"a": (999_999_999_999_999, 1, 2, 3)}))
    assert any("999999999999999" in value.values() for value in result.samples)
