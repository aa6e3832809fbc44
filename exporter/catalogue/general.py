"""The reply to `stats`: the process here, and the tables of its other parts put together."""

from exporter.catalogue.background import BACKGROUND
from exporter.catalogue.commands import COMMANDS
from exporter.catalogue.connections import CONNECTIONS
from exporter.catalogue.extstore import EXTSTORE
from exporter.catalogue.memory import MEMORY
from exporter.catalogue.proxy import PROXY
from exporter.catalogue.row import Omission, Row, Scale, Section, counter, gauge, text

_VERSION = "memcached_version_info"
_VERSION_HELP = (
    "Versions of memcached and of its libevent library and the pointer size in bits, as labels; "
    "the value is always 1."
)

_PROCESS: tuple[Row, ...] = (
    text("version", _VERSION, _VERSION_HELP, since="1.2.0"),
    text("libevent", _VERSION, _VERSION_HELP, since="1.4.6"),
    text("pointer_size", _VERSION, _VERSION_HELP, since="1.2.0"),
    gauge(
        "uptime",
        "memcached_uptime_seconds",
        "Seconds since the server started.",
        since="1.2.0",
        note="Starts at 2, so it is two seconds ahead of the real age.",
    ),
    gauge(
        "time",
        "memcached_time_seconds",
        "Clock of the server in seconds since 1970.",
        since="1.2.0",
        note="Counts on from the start of the process: later steps of the system clock are not "
        "followed, and it lags by up to about a second.",
    ),
    counter(
        "rusage_user",
        "memcached_process_user_cpu_seconds_total",
        "Seconds of CPU time that the server process spent in user mode.",
        since="1.2.0",
        scale=Scale.CPU_TIME,
    ),
    counter(
        "rusage_system",
        "memcached_process_system_cpu_seconds_total",
        "Seconds of CPU time that the kernel spent on behalf of the server process.",
        since="1.2.0",
        scale=Scale.CPU_TIME,
    ),
)

_OMISSIONS: tuple[Omission, ...] = (
    Omission(
        "pid",
        "Identity of the process: it serves to find the process on the host, and a restart shows "
        "in the start time.",
    ),
    Omission(
        "cmd_get",
        'Exactly the hits plus the misses of memcached_commands_total{command="get"}.',
    ),
    Omission(
        "cmd_touch",
        'Exactly the hits plus the misses of memcached_commands_total{command="touch"}.',
    ),
    Omission(
        "arena_size",
        "Belongs, like ten more keys, to `stats malloc` of 1.2.x, which is never sent.",
    ),
)

GENERAL = Section(
    name="stats",
    command="stats",
    rows=(
        *_PROCESS,
        *CONNECTIONS,
        *COMMANDS,
        *MEMORY,
        *BACKGROUND,
        *EXTSTORE,
        *PROXY,
    ),
    omissions=_OMISSIONS,
)
