"""Replies become samples: each line by one look-up, the number checked but never converted.

A server of ordinary size sends a thousand lines and more, at each scrape. So the text of a sample
up to its value is made once per stat key and class, for all servers together, and the loop over
the lines does nothing but look it up.
"""

import re
from collections.abc import Callable, Iterable
from decimal import Decimal

import msgspec

from exporter.catalogue import FAMILIES, SECTIONS
from exporter.catalogue.legacy import DERIVED, LEGACY
from exporter.catalogue.row import Kind, Row, Scale, Section
from exporter.catalogue.scrape import SCRAPE
from exporter.memcached.aggregation import AGGREGATIONS, Aggregate, Limits
from exporter.memcached.server import Reading
from exporter.memcached.values import convert

Samples = list[dict[str, str]]
"""Per family, in the catalogue's order: what stands before the server's labels, and the value."""

_INDEX = {family.name: family.index for family in FAMILIES}
_CLASS = re.compile(r"([1-9][0-9]{0,2}):([a-z_]+)\Z")
_HIGHEST_CLASS = 255
_WITHIN_UPTIME = [
    _INDEX[row.name] for section in SECTIONS for row in section.rows if row.within_uptime
]
_UPTIME = "memcached_uptime_seconds"
_SET_ATTEMPT = 'command="set",status="attempt"'
_MOST_NAMES = 256
_MOST_LINES = 1024
_EXACT_DIGITS = 15
"""Integers of so many digits need no further look: no underflow, no loss in a float."""


_Infos = dict[str, dict[str, str]]
"""Name of an info family to its labels: of a label that comes twice the last value counts."""
_PrefixMaker = Callable[[str, tuple[tuple[str, str], ...]], str]


class Result(msgspec.Struct):
    """The samples of one scrape of one server, and what was strange in its replies."""

    samples: Samples
    unknown: list[str]
    """Stat keys that the catalogue does not have."""
    malformed: list[str]
    """Lines whose value is not of its kind; they gave no sample."""
    dropped: int = 0
    """Series beyond the number that names of the server's choice may make."""


def escape(text: str) -> str:
    """Return a label value as the exposition formats write it."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def suffix(labels: tuple[tuple[str, str], ...]) -> str:
    """Return what stands between a sample's own labels and its value."""
    inner = ",".join(f'{name}="{escape(value)}"' for name, value in labels)
    return f"{inner}}} " if inner else ""


class Translator:
    """Turns replies into samples.

    With ``open_ended`` the samples' label lists stay open for the labels of a server, which
    ``suffix`` makes; else they are complete. ``legacy_names`` adds the official exporter's
    misnamed families. One instance of each kind serves all servers.
    """

    def __init__(self, *, open_ended: bool, legacy_names: bool = False) -> None:
        self._open_ended = open_ended
        self._legacy_names = legacy_names
        self._sections = {
            section.name: _SectionTranslator(
                section, self.prefix, LEGACY.get(section.name, ()) if legacy_names else ()
            )
            for section in SECTIONS
        }
        self._scrape = {row.key: row for row in SCRAPE.rows}

    def prefix(self, name: str, labels: tuple[tuple[str, str], ...] = ()) -> str:
        """Return a sample's text up to the server's labels, or up to the value."""
        inner = ",".join(f'{label}="{escape(value)}"' for label, value in labels)
        if self._open_ended:
            return f"{name}{{{inner}," if inner else f"{name}{{"
        return f"{name}{{{inner}}} " if inner else f"{name} "

    def success(self, reading: Reading, duration: float, limits: Limits | None = None) -> Result:
        """Translate all replies of a reading; ``duration`` is in seconds."""
        limits = limits or Limits()
        result = Result(samples=[{} for _ in FAMILIES], unknown=[], malformed=[])
        # In the catalogue's order: mem_requested of items wins over that of slabs.
        for name, translator in self._sections.items():
            if name in AGGREGATIONS and name in reading.bodies:
                unknown: set[str] = set()
                rows = AGGREGATIONS[name](reading.bodies[name], limits, unknown)
                translator.aggregate(rows, result)
                result.unknown += sorted(unknown)
            elif name in reading.bodies:
                translator.translate(reading.bodies[name], result)
        self._drop_absurd(result)
        if self._legacy_names:
            self._put_legacy_sets(result)
        self._put(result, "up", "1")
        self._put(result, "duration", f"{duration:.6f}")
        self._put(result, "ping", f"{reading.ping_seconds:.6f}")
        if reading.certificate_expires is not None:
            self._put(result, "certificate", f"{reading.certificate_expires:.0f}")
        for section, success in reading.success.items():
            self._put(result, "section_success", "1" if success else "0", section=section)
        self._put(result, "unknown", str(len(result.unknown)))
        self._put(result, "malformed", str(len(result.malformed)))
        self._put(result, "dropped", str(result.dropped))
        self._put_start_time(result)
        return result

    def failure(self, duration: float) -> Result:
        """Return the samples of a server that could not be read; ``duration`` is in seconds."""
        result = Result(samples=[{} for _ in FAMILIES], unknown=[], malformed=[])
        self._put(result, "up", "0")
        self._put(result, "duration", f"{duration:.6f}")
        return result

    def _put(self, result: Result, key: str, value: str, **labels: str) -> None:
        row = self._scrape[key]
        prefix = self.prefix(row.name, tuple(labels.items()))
        result.samples[_INDEX[row.name]][prefix] = value

    def _put_start_time(self, result: Result) -> None:
        """The clock that `time` and `uptime` share does not follow the host's, so it stays put."""
        time, uptime = (_only(result, name) for name in ("memcached_time_seconds", _UPTIME))
        if time.isdecimal() and uptime.isdecimal():
            self._put(result, "start_time", str(int(time) - int(uptime) + 2))

    def _drop_absurd(self, result: Result) -> None:
        """Leave out times that are longer than the server runs (rows ``within_uptime``)."""
        uptime = _only(result, _UPTIME)
        for family in _WITHIN_UPTIME if uptime.isdecimal() else ():
            samples = result.samples[family]
            for prefix, value in list(samples.items()):
                if float(value) > int(uptime):
                    result.malformed.append(f"{prefix}{value}")
                    del samples[prefix]

    def _put_legacy_sets(self, result: Result) -> None:
        """Add {command="set",status="hit"}: the attempts less the outcomes of cas."""
        for name, outcomes in DERIVED:
            samples = result.samples[_INDEX[name]]
            for prefix, attempts in list(samples.items()):
                if _SET_ATTEMPT not in prefix:
                    continue
                cas = (
                    prefix.replace(_SET_ATTEMPT, f'command="cas",status="{status}"')
                    for status in outcomes
                )
                stores = Decimal(attempts) - sum(Decimal(samples.get(key, "0")) for key in cas)
                hit = prefix.replace(_SET_ATTEMPT, 'command="set",status="hit"')
                samples[hit] = f"{max(Decimal(0), stores):f}"


def _only(result: Result, name: str) -> str:
    """Return the value of a family that has one sample, empty when it has none."""
    return "".join(result.samples[_INDEX[name]].values())


class _SectionTranslator:
    """Translates the replies to one command; learns the keys that it meets."""

    def __init__(
        self, section: Section, prefix: _PrefixMaker, legacy: tuple[Row, ...] = ()
    ) -> None:
        self._prefix = prefix
        self._class_prefix = section.class_prefix
        self._rows = {(row.key, row.per_class): row for row in section.rows}
        self._legacy = {(row.key, row.per_class): row for row in legacy}
        self._wildcards = [
            (row.key.rstrip("*"), row) for row in section.rows if row.key.endswith("*")
        ]
        self._omitted = {(omission.key, omission.per_class) for omission in section.omissions}
        self._known: dict[str, tuple[int, str]] = {}
        """``STAT key`` to family and prefix, of keys with plain numbers. Bounded: class numbers end
        at 255 and all else must be in the catalogue."""
        self._constant: dict[str, tuple[int, str, str]] = {}
        """Whole line to family, prefix and number, of lines that need a closer look but hardly
        ever change, as settings. Emptied when it is full."""

    def translate(self, body: str, result: Result) -> None:
        """Add the samples of a reply's body to the result."""
        known, constant = self._known.get, self._constant.get
        samples = result.samples
        infos: _Infos = {}
        for line in body.split("\r\n"):
            key, _, value = line.rpartition(" ")
            found = known(key)
            if found is not None and value.isdecimal() and len(value) <= _EXACT_DIGITS:
                samples[found[0]][found[1]] = value
            elif whole := constant(line):
                samples[whole[0]][whole[1]] = whole[2]
            elif line:
                self._look_up(line, result, infos)
        for name, labels in infos.items():
            samples[_INDEX[name]][self._prefix(name, tuple(labels.items()))] = "1"

    def _look_up(self, line: str, result: Result, infos: _Infos) -> None:
        """Translate a line that is new, or whose value is not a plain number."""
        word, key, value = (*line.split(" ", 2), "", "")[:3]
        if word != "STAT":
            result.malformed.append(line)
            return
        slab, name = self._split_class(key)
        place = (name, bool(slab))
        row = self._rows.get(place)
        if row is None:
            self._look_further(key, value, place, result)
            return
        sample = self._put(row, slab, value, result, infos)
        legacy = self._legacy.get(place)
        if legacy and (sample or row.scale is Scale.TEXT):
            self._put(legacy, slab, value, result, infos)
        elif sample and row.scale is Scale.PLAIN and not row.absent:
            self._known[f"STAT {key}"] = sample[:2]
        elif sample:
            if len(self._constant) >= _MOST_LINES:
                self._constant.clear()
            self._constant[line] = sample

    def _put(
        self, row: Row, slab: str, value: str, result: Result, infos: _Infos
    ) -> tuple[int, str, str] | None:
        """Add the sample of a row; return family, prefix and number when it has a number."""
        if value in row.absent:
            return None
        if row.scale is Scale.TEXT:
            infos.setdefault(row.name, {})[row.label] = _as_utf8(value)
            return None
        number = convert(row, value)
        if number is None:
            key = f"{self._class_prefix}{slab}:{row.key}" if slab else row.key
            result.malformed.append(f"STAT {key} {value}".rstrip())
            return None
        family = _INDEX[row.name]
        prefix = self._prefix(row.name, (("slab", slab), *row.labels) if slab else row.labels)
        result.samples[family][prefix] = number
        return family, prefix, number

    def _look_further(self, key: str, value: str, place: tuple[str, bool], result: Result) -> None:
        """Translate a key whose end is any name; count it when it is unknown."""
        row = next((row for start, row in self._wildcards if key.startswith(start)), None)
        if row is None:
            if place not in self._omitted:
                result.unknown.append(key)
            return
        number = convert(row, value)
        if number is None:
            result.malformed.append(f"STAT {key} {value}")
            return
        name = _as_name(key.removeprefix(row.key.rstrip("*")))
        samples = result.samples[_INDEX[row.name]]
        if len(samples) < _MOST_NAMES:
            samples[self._prefix(row.name, ((row.dynamic[0], name), *row.labels))] = number
        else:
            result.dropped += 1

    def aggregate(self, rows: Iterable[Aggregate], result: Result) -> None:
        """Add the sums that an aggregation made of a reply."""
        for key, labels, value in rows:
            row = self._rows[key, False]
            name = f"{row.name}_bucket" if row.kind is Kind.GAUGE_HISTOGRAM else row.name
            texts = tuple((label, _as_name(text)) for label, text in labels)
            result.samples[_INDEX[row.name]][self._prefix(name, texts)] = str(value)

    def _split_class(self, key: str) -> tuple[str, str]:
        """Return the class number, empty when the key has none, and the rest of the key."""
        found = _CLASS.match(key.removeprefix(self._class_prefix))
        if found and key.startswith(self._class_prefix) and int(found[1]) <= _HIGHEST_CLASS:
            return found[1], found[2]
        return "", key


def _as_utf8(text: str) -> str:
    """Undo the Latin-1 decoding of a reply; bytes that are not UTF-8 become U+FFFD."""
    return text.encode("latin-1").decode("utf-8", "replace")


def _as_name(text: str) -> str:
    r"""The same for names that tell series apart: bytes that are not UTF-8 become ``\xff``."""
    return text.encode("latin-1").decode("utf-8", "backslashreplace")
