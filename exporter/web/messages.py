"""Requests and responses, free of sockets."""

from email.message import Message

import msgspec


class Request(msgspec.Struct, frozen=True):
    """What a client asks for. Header names are looked up in any case."""

    method: str
    path: str
    query: str
    headers: Message
    secure: bool = False
    """True when it came over TLS."""


class Response(msgspec.Struct, frozen=True):
    """What it gets."""

    status: int
    body: bytes
    content_type: str = "text/plain; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()


def plain(status: int, text: str, *headers: tuple[str, str]) -> Response:
    """Return a response of one line of text."""
    return Response(status, f"{text}\n".encode(), headers=headers)
