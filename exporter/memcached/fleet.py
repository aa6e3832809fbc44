"""All servers that are read: the configured ones, and the targets that clients ask for."""

import ipaddress
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from fnmatch import fnmatchcase

from exporter.addresses import Address, parse_address
from exporter.configuration import Allow, Configuration
from exporter.errors import AddressError, ForbiddenTargetError, Reason
from exporter.memcached.connection import Permit
from exporter.memcached.member import Member, Outcome, State
from exporter.memcached.server import Server
from exporter.memcached.targets import Targets
from exporter.memcached.translation import Translator

_MOST_THREADS = 64
_GRACE_SECONDS = 0.05
"""For a scrape that ends at its deadline to hand over its result."""


class _Pools:
    """Threads for servers that are up or new, and for those that failed last time.

    They start as they are needed.
    """

    def __init__(self) -> None:
        self.healthy = ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="scrape")
        self.failed = ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="scrape failed")

    def submit(self, read: Callable[[Member], Outcome], member: Member) -> Future[Outcome]:
        """Read a member in a thread of its kind."""
        return (self.failed if _failed(member) else self.healthy).submit(read, member)


class _Translators:
    """Those that make samples with labels and without; what they learn is the same for all."""

    def __init__(self, legacy_names: bool) -> None:  # noqa: FBT001
        self.open_ended = Translator(open_ended=True, legacy_names=legacy_names)
        self.closed = Translator(open_ended=False, legacy_names=legacy_names)


class Fleet:
    """The servers with their held connections; safe to use from several threads.

    ``count_error`` is told the reason of each scrape that fails. Of a ``previous`` fleet, servers
    that are configured as before are taken over with their connections: ``replaced`` that one.
    """

    def __init__(
        self,
        configuration: Configuration,
        count_error: Callable[[Reason], None],
        previous: "Fleet | None" = None,
    ) -> None:
        self._count_error = count_error
        self._modules = configuration.modules
        self._allow = configuration.allow
        self._host = configuration.host
        kept = {member.key: member for member in previous.members} if previous else {}
        self.members: list[Member] = [
            kept.get((server.address, server.module, server.labels, server.pid_file))
            or Member(
                Server(server.address, server.module, host=self._host, pid_file=server.pid_file),
                server.labels,
            )
            for server in configuration.servers
        ]
        self._by_endpoint = {member.server.address.endpoint: member for member in self.members}
        # What may go on while scrapes of a previous fleet are under way, or was learned by it.
        self.pools: _Pools = previous.pools if previous else _Pools()
        self.terms = (configuration.modules, configuration.allow, configuration.host)
        same = previous is not None and previous.terms == self.terms
        self.targets: Targets = previous.targets if previous and same else Targets()
        self.legacy_names = configuration.legacy_names
        self.translators: _Translators = (
            previous.translators
            if previous and previous.legacy_names == self.legacy_names
            else _Translators(self.legacy_names)
        )

    def read_all(self, budget: float) -> list[Outcome]:
        """Scrape all configured servers at once, within ``budget`` seconds.

        A server that failed last time waits for a thread only behind its like, so that no healthy
        server waits behind hung ones; and for no longer than its own timeout.
        """
        began = time.monotonic()

        def read(member: Member) -> Outcome:
            return member.read(
                began + budget - time.monotonic(),
                self.translators.open_ended,
                labelled=True,
                count_error=self._count_error,
            )

        if len(self.members) == 1:
            return [read(self.members[0])]
        # Of those that failed, the one that was tried longest ago has the first turn.
        turns = sorted(self.members, key=lambda member: member.used)
        tasks = {id(member): self.pools.submit(read, member) for member in turns}
        return [self._result(member, tasks[id(member)], began, budget) for member in self.members]

    def _result(
        self, member: Member, task: Future[Outcome], began: float, budget: float
    ) -> Outcome:
        patience = min(budget, member.server.module.timeout) if _failed(member) else budget
        try:
            return task.result(max(0.0, began + patience + _GRACE_SECONDS - time.monotonic()))
        except TimeoutError:
            return member.give_up(
                self.translators.open_ended, self._count_error, tried=not task.cancel()
            )

    def read_target(self, text: str, budget: float, module: str = "") -> Outcome:
        """Scrape one server within ``budget`` seconds; its samples carry no ``server`` label.

        Raises AddressError and ForbiddenTargetError; ``module`` must exist, or be empty for the
        server's own.
        """
        member = self._target(parse_address(text), module)
        return member.read(
            budget, self.translators.closed, labelled=False, count_error=self._count_error
        )

    def has_module(self, name: str) -> bool:
        """Return whether a module of that name can be asked for."""
        return not name or name in self._modules

    def states(self) -> list[State]:
        """Return the last state of the configured servers, in their order."""
        return [member.state for member in self.members]

    def replaced(self, successor: "Fleet") -> None:
        """Close the connections that the successor has not taken over."""
        kept = set(map(id, successor.members))
        for member in self.members:
            if id(member) not in kept:
                member.server.close()
        if successor.targets is not self.targets:
            self.targets.close()

    def close(self) -> bool:
        """Close all held connections that no scrape uses; return whether that is all of them."""
        for pool in (self.pools.healthy, self.pools.failed):
            pool.shutdown(wait=False, cancel_futures=True)
        closed = [member.server.close() for member in self.members]
        return all((*closed, self.targets.close()))

    def _target(self, address: Address, module: str) -> Member:
        known = self._by_endpoint.get(address.endpoint)
        if known and module in {"", known.server.module.name}:
            return known
        if address.path and self._modules[module or "default"].tls:
            raise AddressError(
                f'"{address.text}" is a unix socket, which cannot speak the TLS of module'
                f' "{module or "default"}"'
            )
        permit = None if known else _permit(self._allow, address)
        how = self._modules[module or "default"]
        # A server that leaves the list is no longer read without a permit.
        key = (address.endpoint, how.name, permit is None)
        return self.targets.remember(key, lambda: Member(Server(address, how, permit, self._host)))


def _failed(member: Member) -> bool:
    return member.state.up is False


def _permit(allow: Allow, address: Address) -> Permit | None:
    """Return what decides on the IP addresses of a target; None when any will do.

    Raises ForbiddenTargetError when nothing in ``scrape.allow`` can fit.
    """
    if any(_fits(address, pattern) for pattern in allow.patterns):
        return None
    if address.path or not allow.networks:
        raise ForbiddenTargetError(
            f"{address.text} is not a configured server: add it to servers, or to scrape.allow,"
            " in the configuration file"
        )
    return lambda ip: any(ipaddress.ip_address(ip) in network for network in allow.networks)


def _fits(address: Address, pattern: str) -> bool:
    """Return whether a pattern allows an address; one for hosts never opens a unix socket."""
    if pattern.startswith("unix:/") != bool(address.path):
        return False
    # In a shell's pattern the brackets of IPv6 would be a set of characters; `*` ends at a slash.
    pattern = pattern.replace("[", "[[]")
    return address.endpoint.count("/") == pattern.count("/") and fnmatchcase(
        address.endpoint, pattern
    )
