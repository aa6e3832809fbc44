"""What a page of the daemon says of one server."""

from tests.memcached.support import Samples
from tests.processes import Exporter, sample

DOWN = {"memcached_up", "memcached_scrape_duration_seconds"}
"""All that there is of a server that cannot be read."""


class Page:
    """The daemon with one server, and what its pages say of that server."""

    def __init__(self, daemon: Exporter, address: str) -> None:
        self.daemon = daemon
        self.address = address

    def __call__(self) -> "Page":
        """Scrape."""
        self.samples: Samples = self.daemon.samples()
        return self

    def get(self, name: str, **labels: str) -> float | None:
        """Return a sample of the server in the last page, None when it is absent."""
        return self.samples.get(sample(name, **labels, server=self.address))

    def of(self, name: str) -> list[float]:
        """Return all samples of one name in the last page."""
        return [number for (own, _), number in self.samples.items() if own == name]

    def names(self) -> set[str]:
        """Return the names of the server's samples in the last page."""
        return {name for name, labels in self.samples if ("server", self.address) in labels}

    def errors(self, reason: str) -> float:
        """Return how many scrapes failed for a reason."""
        return self.samples[sample("memcached_exporter_scrape_errors_total", reason=reason)]

    def warnings(self) -> list[str]:
        """Return the warnings and errors in the daemon's log."""
        lines = self.daemon.log.splitlines()
        return [line for line in lines if "level=warning" in line or "level=error" in line]
