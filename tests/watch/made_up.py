"""Looks and rows as tests want them."""

from exporter.errors import Reason
from exporter.health.snapshot import Labels, Snapshot
from exporter.memcached.member import State
from exporter.observation.observer import Look, Sight
from exporter.watch.columns import Figures
from exporter.watch.rows import Event, Row
from tests.health.made_up import GET_HITS, GET_MISSES, SETS, snapshot

ADDRESS = "10.0.0.1:11211"
START = 1_700_000_000.0


def server(
    taken: float,
    hits: float = 0,
    misses: float = 0,
    sets: float = 0,
    start: float = START,
    **more: float | dict[Labels, float],
) -> Snapshot:
    """Return a snapshot of a server that has counted these commands."""
    commands = {GET_HITS: float(hits), GET_MISSES: float(misses), SETS: float(sets)}
    return snapshot(taken, commands_total=commands, start_time_seconds=start, **more)


def sight(found: Snapshot | Reason, since: float, address: str = ADDRESS) -> Sight:
    """Return what was seen of a server: its snapshot, or why there is none."""
    if isinstance(found, Reason):
        state = State(address=address, up=False, reason=found, detail=f"it is {found}")
        return Sight(state, None, local=False, since=since)
    return Sight(State(address=address, up=True), found, local=False, since=since)


def look(found: Snapshot | Reason, since: float) -> Look:
    """Return a look at one server."""
    return Look((sight(found, since),), Snapshot({}, since))


def row(
    elapsed: float = 5.0,
    server: str = ADDRESS,
    *,
    up: bool = True,
    event: Event = Event.NONE,
    told: Figures | None = None,
    **more: float,
) -> Row:
    """Return a row with these figures, over an interval of 5 seconds if they do not say it."""
    interval = {"interval_seconds": 5.0} if up else {}
    figures = {**interval, **(told or {}), **more}
    reason = "" if up else "refused"
    return Row(START + elapsed, elapsed, server, up, reason=reason, event=event, figures=figures)
