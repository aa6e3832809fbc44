"""The shape of the catalogue: a row says how one stat key becomes one sample."""

from enum import StrEnum

import msgspec


class Kind(StrEnum):
    """Prometheus metric types that the catalogue uses."""

    COUNTER = "counter"
    GAUGE = "gauge"
    INFO = "info"
    """A family with the constant value 1 whose labels carry text."""
    HISTOGRAM = "histogram"
    """A distribution of all that has happened."""
    GAUGE_HISTOGRAM = "gaugehistogram"
    """A distribution of the present: its buckets can fall. A histogram in the text format."""
    SUMMARY = "summary"
    """Count and sum of durations."""
    UNKNOWN = "unknown"
    """A family whose historical name does not fit its type."""


class Scale(StrEnum):
    """How the text of a value becomes a number in base units."""

    PLAIN = "plain"
    """A decimal number, exported as it is."""
    BOOLEAN = "boolean"
    """yes/no, on/off or 1/0, exported as 1/0."""
    MICROSECONDS = "microseconds"
    """Microseconds, exported as seconds."""
    PERCENT = "percent"
    """0 to 100, exported as a ratio from 0 to 1."""
    KIBIBYTES = "kibibytes"
    """KiB, exported as bytes."""
    CPU_TIME = "cpu_time"
    """``seconds.microseconds``, or ``seconds:microseconds`` of some old builds, in seconds."""
    TEXT = "text"
    """Text that becomes the value of the label ``label`` of an info family."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One stat key of memcached and the metric that it becomes.

    Rows of one family (equal ``name``) have equal ``kind`` and ``help``.
    """

    key: str
    """The stat key as memcached sends it, without a class prefix (``items:5:``, ``5:``).

    A ``*`` at the end stands for any name, which becomes the first label of ``dynamic``.
    """
    name: str
    """Metric name, with its unit and, for counters, ``_total``."""
    kind: Kind
    help: str
    """One sentence that makes sense to a reader who does not know memcached's source."""
    labels: tuple[tuple[str, str], ...] = ()
    """Constant labels; the class label ``slab`` is added by the section."""
    dynamic: tuple[str, ...] = ()
    """Names of labels whose values come from the reply."""
    scale: Scale = Scale.PLAIN
    label: str = ""
    """Label name that a TEXT value becomes."""
    per_class: bool = False
    """True when the key comes once per slab class."""
    since: str = ""
    """First memcached release that sends the key."""
    until: str = ""
    """Last memcached release that sends the key, when it is gone."""
    absent: tuple[str, ...] = ()
    """Values that mean 'unknown' or 'not set': no sample."""
    signed: bool = False
    """True when a value below zero is right."""
    within_uptime: bool = False
    """True for times that cannot exceed the server's uptime: what does is rubbish."""
    note: str = ""
    """What a user of the metric should know beyond HELP; shown in docs/metrics.md."""


class Omission(msgspec.Struct, frozen=True):
    """A stat key that is deliberately not exported, with the reason."""

    key: str
    reason: str
    per_class: bool = False


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """One ``stats`` sub-command and all that is known of its reply."""

    name: str
    """Name in the configuration and in the label ``section``."""
    command: str
    """What is sent, without the line end."""
    class_prefix: str = ""
    """What stands before the class number in per-class keys: ``items:`` or nothing."""
    rows: tuple[Row, ...]
    omissions: tuple[Omission, ...] = ()


def counter(  # noqa: PLR0913
    key: str,
    name: str,
    help: str,
    /,
    *,
    since: str = "",
    until: str = "",
    note: str = "",
    scale: Scale = Scale.PLAIN,
    per_class: bool = False,
    absent: tuple[str, ...] = (),
    dynamic: tuple[str, ...] = (),
    within_uptime: bool = False,
    **labels: str,
) -> Row:
    """Return the row of a counter."""
    return Row(
        key=key,
        name=name,
        kind=Kind.COUNTER,
        help=help,
        since=since,
        until=until,
        note=note,
        scale=scale,
        per_class=per_class,
        absent=absent,
        dynamic=dynamic,
        within_uptime=within_uptime,
        labels=tuple(labels.items()),
    )


def gauge(  # noqa: PLR0913
    key: str,
    name: str,
    help: str,
    /,
    *,
    since: str = "",
    until: str = "",
    note: str = "",
    scale: Scale = Scale.PLAIN,
    per_class: bool = False,
    absent: tuple[str, ...] = (),
    signed: bool = False,
    dynamic: tuple[str, ...] = (),
    **labels: str,
) -> Row:
    """Return the row of a gauge."""
    return Row(
        key=key,
        name=name,
        kind=Kind.GAUGE,
        help=help,
        since=since,
        until=until,
        note=note,
        scale=scale,
        per_class=per_class,
        absent=absent,
        dynamic=dynamic,
        signed=signed,
        labels=tuple(labels.items()),
    )


def text(  # noqa: PLR0913
    key: str,
    name: str,
    help: str,
    /,
    *,
    label: str = "",
    since: str = "",
    until: str = "",
    note: str = "",
) -> Row:
    """Return the row of a text that becomes a label, named as its key if not told, of an info."""
    return Row(
        key=key,
        name=name,
        kind=Kind.INFO,
        help=help,
        label=label or key,
        scale=Scale.TEXT,
        since=since,
        until=until,
        note=note,
        absent=("", "NULL", "(null)"),
    )
