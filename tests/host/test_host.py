"""The host as a page sees it: what fails or hangs stays with its collector."""

import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import structlog

from exporter.configuration import HostSettings
from exporter.exposition import Format, host_page
from exporter.host import host as module
from exporter.host.collector import Sample
from exporter.host.host import Host, Portion, Subject
from exporter.host.process import Process
from exporter.host.process_files import started
from tests.host.subjects import needs_root, run
from tests.processes import Memcached

LINE = "0000000a 00000002 00000003 0 0 0 0 0 0 0 0 00000000 00000001"


@pytest.fixture
def softnet_file(tmp_path: Path) -> Path:
    """Return where a made-up host has its softnet counters; the file is not there yet."""
    path = tmp_path / "proc" / "1" / "net" / "softnet_stat"
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def host(softnet_file: Path) -> Iterator[Host]:
    """Make a host of which only the softnet counters are read."""
    made = Host(HostSettings(softnet_file.parents[2], Path("/sys"), frozenset({"softnet"})))
    yield made
    made.close()


def soon() -> float:
    """Return a deadline that leaves all the time a page gives the host."""
    return time.monotonic() + 60


def outcome(host: Host) -> tuple[bool | None, dict[tuple[str, tuple[str, ...]], float]]:
    """Read the host, and return how its one collector did and what it brought."""
    (portion,) = host.begin().result(soon())
    gathered = portion.gathered
    return gathered.success, {(key, labels): value for key, labels, value in gathered.samples}


def test_a_source_is_read(host: Host, softnet_file: Path) -> None:
    """The counters are hexadecimal, and a column says which CPU they are of."""
    softnet_file.write_text(LINE + "\n")
    assert outcome(host) == (
        True,
        {("processed", ("1",)): 10, ("dropped", ("1",)): 2, ("squeezed", ("1",)): 3},
    )


def test_an_absent_source_is_no_failure(host: Host) -> None:
    """It gives no series and one line at debug level (an alert on failures must not fire)."""
    with structlog.testing.capture_logs() as logs:
        assert [outcome(host) for _ in range(3)] == [(None, {})] * 3
    assert [(line["log_level"], line["collector"]) for line in logs] == [("debug", "softnet")]


def test_a_source_that_comes_and_goes_is_no_news(host: Host, softnet_file: Path) -> None:
    """A network device of a container, ten times a second: nothing above debug level."""
    with structlog.testing.capture_logs() as logs:
        for _ in range(3):
            assert outcome(host) == (None, {})
            softnet_file.write_text(LINE)
            assert outcome(host)[0] is True
            softnet_file.unlink()
    assert [line["log_level"] for line in logs] == ["debug"] * 6


def test_a_broken_source_that_was_absent_in_between(host: Host, softnet_file: Path) -> None:
    """Who was warned is told that all is well."""
    softnet_file.mkdir()
    with structlog.testing.capture_logs() as logs:
        assert outcome(host) == (False, {})
        softnet_file.rmdir()
        assert outcome(host) == (None, {})
        softnet_file.write_text(LINE)
        assert outcome(host)[0] is True
    assert [line["log_level"] for line in logs] == ["warning", "debug", "info"]


def test_a_broken_source_fails_alone(host: Host, softnet_file: Path) -> None:
    """C05: a directory in the file's place is one warning, and all is well when it is gone."""
    softnet_file.mkdir()
    with structlog.testing.capture_logs() as logs:
        assert [outcome(host) for _ in range(3)] == [(False, {})] * 3
        softnet_file.rmdir()
        softnet_file.write_text(LINE)
        assert outcome(host)[0] is True
    assert [line["log_level"] for line in logs] == ["warning", "info"]
    assert "is a directory" in logs[0]["error"]
    assert str(softnet_file) in logs[0]["error"]


@needs_root
def test_a_root_that_is_forbidden_is_no_end() -> None:
    """The exporter starts, and each collector says that it may not read."""
    program = """
        import time
        from exporter.configuration import HostSettings
        from exporter.host.host import Host
        become_nobody()
        names = frozenset(["nic", "interrupts", "numa"])
        host = Host(HostSettings(sysfs=Path("/proc/1/root/sys"), collectors=names))
        portions = host.begin().result(time.monotonic() + 60)
        print(json.dumps([portion.gathered.success for portion in portions]))
    """
    assert run(program) == [False] * 3


def test_nonsense_in_a_source_fails(host: Host, softnet_file: Path) -> None:
    """What is no number is not taken for one."""
    softnet_file.write_text("not hexadecimal at all\n")
    assert outcome(host) == (False, {})


def test_a_source_that_hangs_delays_no_page(
    host: Host, softnet_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fails when patience ends, keeps later pages no time at all, and comes back."""
    monkeypatch.setattr(module, "_PATIENCE", 0.2)
    os.mkfifo(softnet_file)
    with structlog.testing.capture_logs() as logs:
        assert outcome(host) == (False, {})
        threads = threading.active_count()
        time.sleep(0.2)
        errands = [host.begin() for _ in range(5)]
        assert [errand.task for errand in errands] == [None] * 5
        assert [errand.result(soon())[0].gathered.success for errand in errands] == [False] * 5
        assert threading.active_count() == threads
        softnet_file.write_text(LINE)  # which the reader that hangs takes as well
        softnet_file.unlink()
        softnet_file.write_text(LINE)
        deadline = time.monotonic() + 10
        while outcome(host)[0] is not True:
            assert time.monotonic() < deadline
    events = [line["event"] for line in logs if line["log_level"] in {"warning", "info"}]
    assert events == [
        "a source of host metrics does not answer",
        "sources of host metrics answer again",
    ]


def test_the_host_gets_its_share_of_a_page_without_time(host: Host, softnet_file: Path) -> None:
    """When hung servers have used up all time, the host is needed most."""
    softnet_file.write_text(LINE)
    (portion,) = host.begin().result(time.monotonic() - 5)
    assert portion.gathered.success is True


def test_a_page_waits_for_both_errands_at_once(
    host: Host, softnet_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The processes behind a source that hangs do not cost the page another second."""
    monkeypatch.setattr(module, "_PATIENCE", 1.0)
    os.mkfifo(softnet_file)
    began = time.monotonic()
    errands = [host.begin(), host.begin()]
    for errand in errands:
        assert [portion.gathered.success for portion in errand.result(soon())] == [False]
    assert 1.0 <= time.monotonic() - began < 1.9
    softnet_file.write_text(LINE)  # lets the thread end


def test_pages_that_wait_together_share_a_reading(host: Host) -> None:
    """Eight clients at once cost two readings: what was begun before one asked is not for it."""
    begun = threading.Semaphore(0)
    may_end = threading.Event()

    def read() -> list[Sample]:
        begun.release()
        may_end.wait(10)
        readings.append(len(readings))
        return [("processed", ("0",), readings[-1])]

    readings: list[int] = []
    host._collectors[0]._read = read
    errands = [host.begin()]
    assert begun.acquire(timeout=10)
    errands += [host.begin() for _ in range(7)]
    may_end.set()
    portions = [errand.result(soon())[0] for errand in errands]
    assert [portion.gathered.samples[0][2] for portion in portions] == [0] + [1] * 7
    assert readings == [0, 1]
    (later,) = host.begin().result(soon())
    assert later.gathered.samples[0][2] == 2


@pytest.mark.parametrize("form", Format)
def test_a_series_that_comes_twice_is_there_once(
    host: Host, softnet_file: Path, form: Format
) -> None:
    """Two rows of one CPU would make Prometheus refuse the page: the last one counts."""
    softnet_file.write_text(LINE + "\n" + LINE.replace("0000000a", "0000000b"))
    page = host_page(host.begin().result(soon()), form)
    lines = [line for line in page.splitlines() if "_processed_total{" in line]
    assert lines == ['memcached_host_softnet_processed_total{cpu="1"} 11']


def test_a_silent_server_keeps_its_process(host: Host, memcached: Callable[..., Memcached]) -> None:
    """A hung server's process is what one wants to see; when it has ended, it is gone."""
    host = Host(HostSettings(collectors=frozenset({"process"})))
    server = memcached()
    start = started(None, f"/proc/{server.process.pid}/stat")
    assert start is not None
    process = Process(server.process.pid, start, Path(f"/proc/{server.process.pid}"))

    def portions(subject: Subject) -> list[Portion]:
        return host.begin_processes([subject]).result(soon())

    labels = (("server", "a"),)
    assert portions(Subject("a", labels)) == []
    for subject in (Subject("a", labels, answered=True, process=process), Subject("a", labels)):
        (portion,) = portions(subject)
        assert (portion.labels, portion.gathered.success) == (labels, True)
        found = {key: value for key, _, value in portion.gathered.samples}
        assert found["starttime"] > 0
    assert portions(Subject("a", labels, connected=False)) == []  # the name has moved, say
    portions(Subject("a", labels, answered=True, process=process))
    assert portions(Subject("a", labels, answered=True)) == []
    portions(Subject("a", labels, answered=True, process=process))
    server.stop()
    assert portions(Subject("a", labels)) == []
    host.close()


def test_processes_that_nobody_asks_for_are_forgotten(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Targets of clients come and go; what is kept of them does not pile up."""
    monkeypatch.setattr(module, "_FORGET_SECONDS", -1.0)
    own = Process(os.getpid(), 1, Path("/proc/self"))
    for i in range(10):
        subject = Subject(f"server {i}", (), answered=True, process=own)
        host.begin_processes([subject]).result(soon())
    assert len(host._known) <= 1


def test_how_collectors_do_is_on_the_page(host: Host) -> None:
    """A failure is 0, an absent source has no such series, and each has its duration."""
    (portion,) = host.begin().result(soon())
    page = host_page([Portion(portion.gathered)], Format.TEXT)
    assert "memcached_host_collector_success{" not in page
    duration = r'^memcached_host_collector_duration_seconds\{collector="softnet"\} [0-9.e-]+$'
    assert re.search(duration, page, re.MULTILINE)
