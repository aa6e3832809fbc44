"""Cases for the alerts about servers."""

from tests.alerts.harness import Case

_DAY = 86400
_NOT_AFTER = "memcached_tls_certificate_not_after_timestamp_seconds{@a}"
_DOWN = "MemcachedDown{critical, @%s}"
_UP = {f"memcached_up{{@{name}}}": "1+0x40" for name in "abcdefghij"}


def _fleet(servers: str, down: str) -> dict[str, str]:
    """Some servers, of which some are down after five minutes."""
    values = {name: "1+0x5 0+0x35" if name in down else "1+0x40" for name in servers}
    return {f"memcached_up{{@{name}}}": text for name, text in values.items()}


def _certificate(seconds: int) -> dict[str, str]:
    """A server whose certificate expires so long after the beginning."""
    return {_NOT_AFTER: f"{seconds}+0x60"}


def _versions(*values: str) -> dict[str, str]:
    """Server a with one version and then another, b with one throughout."""
    labels = 'libevent="2.1.12-stable", pointer_size="64"'
    return {
        f'memcached_version_info{{@b, version="1.6.18", {labels}}}': "1+0x200",
        f'memcached_version_info{{@a, version="1.6.18", {labels}}}': values[0],
        f'memcached_version_info{{@a, version="1.6.40", {labels}}}': values[1],
    }


DOWN = (
    Case(
        "one of three is down, and comes back",
        _fleet("bc", "") | {"memcached_up{@a}": "1+0x5 0+0x14 1+0x20"},
        {"7m": [], "10m": [_DOWN % "a"], "20m": [_DOWN % "a"], "21m": []},
        (
            "10m",
            _DOWN % "a",
            (
                "memcached on WHO has not answered for two minutes. The reason is in"
                " the exporter's log and on its page."
            ),
        ),
    ),
    Case("one scrape fails", {"memcached_up{@a}": "1+0x5 0 1+0x20"}, {"7m": [], "10m": []}),
    Case("every other scrape fails", {"memcached_up{@a}": "1 0 1 0 1 0 1 0 1 0"}, {"9m": []}),
    Case("it was down from the beginning", {"memcached_up{@a}": "0+0x9"}, {"9m": [_DOWN % "a"]}),
    Case(
        "E14: the series ends: it is not the server that is known to be down",
        {"memcached_up{@a}": "1+0x5 _x20"},
        {"7m": [], "9m": [], "15m": []},
    ),
)

MANY_DOWN = (
    Case(
        "four of ten",
        _fleet("abcdefghij", "abcd"),
        {
            "7m": [],
            "12m": ['MemcachedManyDown{critical, job="memcached"}', *(_DOWN % n for n in "abcd")],
        },
        (
            "12m",
            'MemcachedManyDown{critical, job="memcached"}',
            (
                "40% of the memcached servers of"
                " job memcached do not answer, more than 30 %: look for a common cause, such as the"
                " network or the exporter's host."
            ),
        ),
    ),
    Case(
        "three of nine: a third, and no fewer than three",
        _fleet("abcdefghi", "abc"),
        {"12m": ['MemcachedManyDown{critical, job="memcached"}', *(_DOWN % n for n in "abc")]},
    ),
    Case(
        "three of ten: at the boundary",
        _fleet("abcdefghij", "abc"),
        {"12m": [_DOWN % name for name in "abc"]},
    ),
    Case(
        "two of five: too few",
        _fleet("abcde", "ab"),
        {"12m": [_DOWN % name for name in "ab"]},
    ),
    Case(
        "two of six, and one that fails now and then",
        _fleet("abcdef", "ab") | {"memcached_up{@c}": " ".join(["1 0"] * 20)},
        {"12m": [_DOWN % name for name in "ab"], "13m": [_DOWN % name for name in "ab"]},
    ),
    Case("two of two: too few", _fleet("ab", "ab"), {"12m": [_DOWN % name for name in "ab"]}),
    Case(
        "another job's servers are not of this one",
        _fleet("abcdefghij", "ab")
        | {f'memcached_up{{job="other", instance="{n}"}}': "0+0x40" for n in (1, 2)},
        {
            "12m": [
                *(_DOWN % name for name in "ab"),
                *(f'MemcachedDown{{critical, job="other", instance="{n}"}}' for n in (1, 2)),
            ]
        },
    ),
)

RESTARTED = (
    Case(
        "one of two",
        {
            "memcached_start_time_seconds{@a}": "1000+0x5 _x2 2000+0x60",
            "memcached_start_time_seconds{@b}": "1000+0x60",
        },
        {"8m": [], "12m": ["MemcachedRestarted{info, @a}"], "45m": []},
        (
            "12m",
            "MemcachedRestarted{info, @a}",
            (
                "memcached on WHO was restarted in the last half"
                " hour (restarts: 1): what it held is gone."
            ),
        ),
    ),
    Case("a new server", {"memcached_start_time_seconds{@a}": "_x5 2000+0x60"}, {"12m": []}),
)

VERSION_SKEW = (
    Case(
        "for longer than an hour",
        _versions("_x100", "1+0x100"),
        {"55m": [], "65m": ['MemcachedVersionSkew{info, job="memcached"}']},
        (
            "65m",
            'MemcachedVersionSkew{info, job="memcached"}',
            "The memcached servers of job memcached have run 2 different versions for an hour.",
        ),
    ),
    Case("the same version", _versions("1+0x100", "_x100"), {"90m": []}),
    Case(
        "a server that cannot be read now and then keeps its version",
        _versions("_x100", "1+0x20 _x8 1+0x20 _x8 1+0x20"),
        {"65m": ['MemcachedVersionSkew{info, job="memcached"}']},
    ),
    Case(
        "while an upgrade goes from server to server",
        _versions("1+0x50 _x100", "_x20 1+0x120")
        | {
            'memcached_version_info{@b, version="1.6.18", libevent="2.1.12-stable",'
            ' pointer_size="64"}': "1+0x50 _x100"
        },
        {"55m": [], "90m": []},
    ),
)

SECTION_FAILING = (
    Case(
        "one section of one server",
        {
            'memcached_scrape_section_success{@a, section="items"}': "1+0x5 0+0x40",
            'memcached_scrape_section_success{@a, section="slabs"}': "1+0x45",
            'memcached_scrape_section_success{@b, section="items"}': "1+0x45",
        },
        {"18m": [], "25m": ['MemcachedSectionFailing{warning, @a, section="items"}']},
        (
            "25m",
            'MemcachedSectionFailing{warning, @a, section="items"}',
            (
                "The section items of"
                " memcached on WHO has failed for ten minutes, so that its metrics are missing. The"
                " reason is in the exporter's log."
            ),
        ),
    ),
    Case(
        "every other time only",
        {'memcached_scrape_section_success{@a, section="items"}': "0 1 0 1 0 1 0 1 0 1 0 1 0 1 0"},
        {"14m": []},
    ),
)

_EXPIRING = "MemcachedCertificateExpiring{%s, @a}"
CERTIFICATE = (
    Case(
        "fourteen days are left after ten minutes: the boundary",
        _certificate(14 * _DAY + 600)
        | {"memcached_tls_certificate_not_after_timestamp_seconds{@b}": f"{90 * _DAY}+0x60"},
        {"15m": [], "17m": [_EXPIRING % "warning"]},
        (
            "20m",
            _EXPIRING % "warning",
            (
                "The TLS certificate of memcached on WHO is valid for"
                " 13d 23h 50m 0s more. Below zero it has expired, and clients that verify it cannot"
                " connect."
            ),
        ),
    ),
    Case(
        "one day is left after ten minutes: it becomes critical, and the warning ends",
        _certificate(_DAY + 600),
        {"10m": [_EXPIRING % "warning"], "11m": [], "15m": [], "17m": [_EXPIRING % "critical"]},
    ),
    Case(
        "it has expired, and the server cannot be read any more",
        {_NOT_AFTER: "300+0x5 _x60"},
        {"40m": [_EXPIRING % "critical"]},
        (
            "40m",
            _EXPIRING % "critical",
            (
                "The TLS certificate of memcached on WHO is valid for"
                " -35m 0s more. Below zero it has expired, and clients that verify it cannot"
                " connect."
            ),
        ),
    ),
    *(
        Case(
            f"it was replaced by one that ends sooner: {severity}",
            {_NOT_AFTER: f"{90 * _DAY}+0x20 {days * _DAY}+0x20"},
            {"15m": [], "27m": [_EXPIRING % severity]},
        )
        for severity, days in (("warning", 5), ("critical", 1))
    ),
    Case(
        "it was renewed",
        {_NOT_AFTER: f"{_DAY}+0x20 {90 * _DAY}+0x20"},
        {"15m": [_EXPIRING % "critical"], "22m": []},
    ),
)

CASES = (*DOWN, *MANY_DOWN, *RESTARTED, *VERSION_SKEW, *SECTION_FAILING, *CERTIFICATE)
