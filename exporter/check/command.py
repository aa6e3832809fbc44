"""The command itself: looks twice, judges, and prints."""

import time
from collections.abc import Callable

import msgspec

from exporter.check.nagios import nagios
from exporter.check.report import Report, judge, report
from exporter.check.text import text
from exporter.configuration import Configuration
from exporter.observation.observer import Observer

PINGS = 100
"""Round trips to measure in the window, about."""
_SHORTEST_PING_SECONDS = 0.02
_OVERHEAD_SECONDS = 1.0
"""For a look at the host, and what lies between."""

OUTPUTS: dict[str, Callable[[Report, Configuration], str]] = {
    "text": lambda found, configuration: text(found, configuration.rules.runbooks),
    "json": lambda found, _: (
        msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n"
    ),
    "nagios": lambda found, _: nagios(found),
}
"""How a report is printed, by the name of the format."""


def check(configuration: Configuration, window: float, unread: tuple[str, ...] = ()) -> Report:
    """Look at all servers of a configuration at both ends of a window of so many seconds.

    With a window of 0 there is one look, and no rates but those since the start.
    """
    longest = max((s.module.timeout for s in configuration.servers), default=0.0)
    interval = max(window / PINGS, _SHORTEST_PING_SECONDS) if window else 0.0
    observer = Observer(configuration, interval)
    try:
        budget = longest + _OVERHEAD_SECONDS
        first = observer.look(budget) if window else None
        time.sleep(window)
        last = observer.look(budget)
        addresses = [sight.state.address for sight in last.servers]
        pings = {address: observer.pings(address) for address in addresses}
    finally:
        observer.close()
    return report(judge(first, last, pings, configuration), configuration, window, unread)
