"""Passwords against hashes: what is checked, what is remembered, and what a flood does."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bcrypt
import pytest

from exporter.web import passwords as passwords_module
from exporter.web.access import Access
from exporter.web.passwords import BusyError, Passwords
from exporter.web.server import HttpServer
from tests.web.clients import eventually, place_of
from tests.web.secure import ask, basic, everything, hashed

Serve = Callable[..., HttpServer]


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The hashes that bcrypt was called with, one entry a call."""
    calls: list[bytes] = []
    checkpw = bcrypt.checkpw

    def counted(password: bytes, stored: bytes) -> bool:
        calls.append(stored)
        return checkpw(password, stored)

    monkeypatch.setattr(bcrypt, "checkpw", counted)
    return calls


def test_fifty_scrapes_cost_one_check(serve: Serve, users_file: Path, checks: list[bytes]) -> None:
    """Bcrypt is called once for a password that is right, also when many ask at once."""
    server = serve(everything, Access(users_file))

    def scrape(_: int) -> int:
        return ask(place_of(server), "/", Authorization=basic("alice", "right")).status

    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(scrape, range(50))) == [200] * 50
    assert len(checks) == 1


def test_a_wrong_password_is_checked_once(
    serve: Serve, users_file: Path, checks: list[bytes]
) -> None:
    """A scraper with an old password costs no processor for ever."""
    server = serve(everything, Access(users_file))
    for _ in range(10):
        assert ask(place_of(server), "/", Authorization=basic("alice", "old")).status == 401
    assert len(checks) == 1


def test_an_unknown_user_costs_the_same(checks: list[bytes]) -> None:
    """A name that nobody has is checked too, against one of the hashes, and never lets in."""
    users = {b"alice": hashed("right").encode(), b"bob": hashed("other").encode()}
    passwords = Passwords()
    for i in range(30):
        for password in (b"right", b"other"):
            assert not passwords.right(users, b"nobody-%d" % i, password)
    assert len(checks) == 60
    assert set(checks) == set(users.values())
    # The same name is always held against the same hash, as that of a user is.
    del checks[:]
    for i in range(20):
        assert not passwords.right(users, b"nobody", b"%d" % i)
    assert len(set(checks)) == 1


def test_who_becomes_a_user_is_let_in() -> None:
    """What was found of an unknown name does not hold once the name is a user's."""
    stored = hashed("right").encode()
    passwords = Passwords()
    assert not passwords.right({b"alice": stored}, b"bob", b"right")
    assert passwords.right({b"alice": stored, b"bob": stored}, b"bob", b"right")
    assert not passwords.right({b"bob": hashed("new").encode()}, b"bob", b"right")


def test_memory_of_passwords_is_bounded(
    checks: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guesses push each other out, not the good password; and no password is kept in clear."""
    monkeypatch.setattr(passwords_module, "MOST_REMEMBERED", 8)
    users = {b"alice": hashed("right").encode()}
    passwords = Passwords()
    assert passwords.right(users, b"alice", b"right")
    for i in range(30):
        assert not passwords.right(users, b"alice", b"guess-%d" % i)
    assert passwords.right(users, b"alice", b"right")
    assert len(checks) == 31
    assert {found: len(tickets) for found, tickets in passwords._found.items()} == {
        True: 1,
        False: 8,
    }
    assert b"right" not in b"".join(passwords._found[True])


def test_a_flood_of_guesses_leaves_known_passwords_alone(
    serve: Serve, users_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One password is checked at a time, few wait, more get 503; who is known gets in at once."""
    monkeypatch.setattr(passwords_module, "MOST_WAITING", 3)
    access = Access(users_file)
    server = serve(everything, access)
    good = basic("alice", "right")
    assert ask(place_of(server), "/", Authorization=good).status == 200
    under_way: list[int] = []
    most: list[int] = []
    go_on = threading.Event()

    def slow(password: bytes, stored: bytes) -> bool:
        under_way.append(1)
        most.append(len(under_way))
        go_on.wait(20)
        under_way.pop()
        return False

    monkeypatch.setattr(bcrypt, "checkpw", slow)
    guess = lambda i: ask(place_of(server), "/", Authorization=basic("alice", f"{i}"))  # noqa: E731
    with ThreadPoolExecutor(10) as pool:
        answers = [pool.submit(guess, i) for i in range(10)]
        try:
            assert eventually(lambda: sum(answer.done() for answer in answers) == 7)
            assert ask(place_of(server), "/", Authorization=good).status == 200
            assert ask(place_of(server), "/-/healthy").status == 200
        finally:
            go_on.set()
    statuses = sorted(answer.result().status for answer in answers)
    assert statuses == [401] * 3 + [503] * 7
    busy = next(answer.result() for answer in answers if answer.result().status == 503)
    assert busy.headers["Retry-After"] == "1"
    assert max(most) == 1


def test_too_many_at_once_is_an_error_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a place to wait nothing is checked at all."""
    monkeypatch.setattr(passwords_module, "MOST_WAITING", 0)
    with pytest.raises(BusyError):
        Passwords().right({b"a": hashed("b").encode()}, b"a", b"b")
