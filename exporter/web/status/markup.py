"""HTML that cannot be written into by a server: all text is escaped where it is put in."""

from collections.abc import Iterable
from html import escape
from urllib.parse import urlencode


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


NOTHING = Html()


def fill(template: str, /, **parts: object) -> Html:
    """Return a template of this program with its ``{placeholders}`` filled.

    A part that is not Html is text, and is escaped for use between tags and in quoted attributes.
    """
    filled = {
        name: part if isinstance(part, Html) else escape(str(part)) for name, part in parts.items()
    }
    return Html(template.format_map(filled))


def prose(text: str) -> Html:
    """Return a text whose commands and settings stand between backticks, these as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return fill("{text}", text=text)
    told = [
        # A number and its per cent sign stay on one line; commands stay as they are, to be copied.
        fill("<code>{part}</code>", part=part)
        if index % 2
        else fill("{part}", part=part.replace(" %", "\N{NO-BREAK SPACE}%"))
        for index, part in enumerate(parts)
    ]
    return Html("".join(told))


def join(parts: Iterable[Html]) -> Html:
    """Return markup put together, a line each."""
    return Html("\n".join(parts))


def link(path: str, text: str, /, **query: str) -> Html:
    """Return a link; parameters of the query that are empty are left out."""
    told = urlencode({name: value for name, value in query.items() if value})
    return fill('<a href="{href}">{text}</a>', href=f"{path}?{told}" if told else path, text=text)
