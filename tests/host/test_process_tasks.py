"""Threads by kind and place: what they counted does not fall when they end."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from exporter.host.process import Process
from exporter.host.process_tasks import Holding, Tasks, tasks_of
from tests.host.subjects import Threads, process_of

PID = 42


@pytest.fixture
def threads() -> Iterator[Threads]:
    """Start a process whose threads come and go upon order."""
    started = Threads()
    yield started
    started.stop()


def by_place(holdings: list[Holding]) -> dict[tuple[str, int], Holding]:
    """Return what there is of each place."""
    found = {(holding.kind, holding.number): holding for holding in holdings}
    assert len(found) == len(holdings)
    return found


def total(holdings: list[Holding]) -> tuple[int, int]:
    """Return the context switches of all places, voluntary and not."""
    return sum(one.counts[3] for one in holdings), sum(one.counts[4] for one in holdings)


def thread(  # noqa: PLR0913
    root: Path,
    number: int = PID,
    *,
    name: str = "memcached",
    start: int = 100,
    times: tuple[int, int] = (0, 0),
    schedstat: str | None = "5 0 1",
    switches: tuple[int, int] = (0, 0),
    after: str = "",
) -> Path:
    """Make a thread of a made-up process, or change it."""
    directory = root / str(PID) / "task" / str(number)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "status").write_text(
        f"Name:\t{name}\nUmask:\t0022\nvoluntary_ctxt_switches:\t{switches[0]}\n"
        f"nonvoluntary_ctxt_switches:\t{switches[1]}\n{after}"
    )
    fields = ["S", *["0"] * 10, *map(str, times), *["0"] * 6, str(start), "4096", "1", "0"]
    (directory / "stat").write_text(f"{number} ({name}) {' '.join(fields)}\n")
    if schedstat:
        (directory / "schedstat").write_text(schedstat + "\n")
        (root / str(PID) / "schedstat").write_text("")
    return directory


def remove(directory: Path) -> None:
    """End a thread of a made-up process."""
    for file in directory.iterdir():
        file.unlink()
    directory.rmdir()


def made_up(root: Path, *, detailed: bool = True) -> Tasks:
    """Return the places of the made-up process."""
    return Tasks(Process(PID, 100, root / str(PID)), detailed=detailed)


def test_the_counts_are_the_kernels(tmp_path: Path) -> None:
    """Each number of the three files has its place, whatever the threads are called."""
    thread(tmp_path, times=(1, 2), schedstat="9 3 1", switches=(4, 5))
    thread(tmp_path, 43, name="mc-worker", times=(6, 7), schedstat="9 8 1", switches=(9, 10))
    thread(tmp_path, 44, name="mc-ext-io", switches=(11, 12))
    thread(tmp_path, 45, name="mc) S 1 (x", switches=(13, 14))
    tasks = made_up(tmp_path)
    assert tasks.read(self := object()) == [
        Holding("main", 0, runs=True, counts=(1, 2, 3, 4, 5)),
        Holding("worker", 0, runs=True, counts=(6, 7, 8, 9, 10)),
        Holding("ext-io", 0, runs=True, counts=(0, 0, 0, 11, 12)),
        Holding("unknown", 0, runs=True, counts=(0, 0, 0, 13, 14)),
    ]
    assert tasks.counts_waits
    assert tasks.status.startswith(b"Name:\tmemcached\n")
    assert self


def test_workers_are_numbered_as_they_were_started(tmp_path: Path) -> None:
    """Their numbers are compared as numbers, and the main thread's may be the highest."""
    thread(tmp_path)
    for number, switches in [(9, 1), (10, 2), (100, 3)]:
        thread(tmp_path, number, name="mc-worker", switches=(switches, 0))
    places = by_place(made_up(tmp_path).read(object()))
    assert [places["worker", index].counts[3] for index in range(3)] == [1, 2, 3]


@pytest.mark.parametrize("detailed", [True, False])
def test_what_an_ended_thread_counted_stays(tmp_path: Path, detailed: bool) -> None:
    """F01: the place of a thread that ended keeps its counts, and the next one counts on there."""
    thread(tmp_path, switches=(1, 1))
    gone = thread(tmp_path, 43, name="mc-itemcrawler", switches=(100, 10))
    tasks, reader = made_up(tmp_path, detailed=detailed), object()
    assert total(tasks.read(reader)) == (101, 11)
    remove(gone)
    places = tasks.read(reader)
    assert total(places) == (101, 11)
    assert not by_place(places)["itemcrawler", 0].runs
    thread(tmp_path, 50, name="mc-itemcrawler", start=700, switches=(7, 0))
    places = tasks.read(reader)
    assert by_place(places)["itemcrawler", 0] == Holding(
        "itemcrawler", 0, runs=True, counts=(0, 0, 0, 107, 10)
    )
    assert len(places) == 2


def test_a_number_that_is_given_again_is_another_thread(tmp_path: Path) -> None:
    """F01: the start tells them apart, even when the second counted more than the first."""
    thread(tmp_path)
    thread(tmp_path, 43, name="mc-worker", switches=(100, 10), times=(50, 5))
    tasks, reader = made_up(tmp_path), object()
    tasks.read(reader)
    thread(tmp_path, 43, name="mc-worker", start=900, switches=(200, 3), times=(1, 1))
    assert by_place(tasks.read(reader))["worker", 0].counts == (51, 6, 0, 300, 13)


def test_a_number_given_again_is_noticed_without_the_start(tmp_path: Path) -> None:
    """F01: where only context switches are read, counts that fell are those of another thread."""
    thread(tmp_path)
    thread(tmp_path, 43, name="mc-worker", switches=(100, 10))
    tasks, reader = made_up(tmp_path, detailed=False), object()
    tasks.read(reader)
    thread(tmp_path, 43, name="mc-worker", start=900, switches=(5, 20))
    assert by_place(tasks.read(reader))["worker", 0].counts[3:] == (105, 30)


def test_a_time_that_is_taken_back_does_not_fall(tmp_path: Path) -> None:
    """The kernel estimates how a time is split; the same thread keeps the higher number."""
    thread(tmp_path, times=(10, 10))
    tasks, reader = made_up(tmp_path), object()
    tasks.read(reader)
    thread(tmp_path, times=(9, 12))
    assert tasks.read(reader)[0].counts[:2] == (10, 12)


def test_a_renamed_thread_counts_once(tmp_path: Path) -> None:
    """A thread has its creator's name at first; the sum is right when it gets its own."""
    thread(tmp_path)
    thread(tmp_path, 43, switches=(3, 1))
    tasks, reader = made_up(tmp_path), object()
    assert ("unknown", 0) in by_place(tasks.read(reader))
    thread(tmp_path, 43, name="mc-worker", switches=(10, 2))
    places = tasks.read(reader)
    assert by_place(places)["worker", 0].counts[3:] == (7, 1)
    assert by_place(places)["unknown", 0] == Holding(
        "unknown", 0, runs=False, counts=(0, 0, 0, 3, 1)
    )


@pytest.mark.parametrize("schedstat", [None, "0 0 0"])
def test_a_kernel_that_does_not_count_waits(tmp_path: Path, schedstat: str | None) -> None:
    """Without the file, or with noughts for a thread that has run, nothing is said of waiting."""
    thread(tmp_path, schedstat=schedstat, switches=(4, 5))
    tasks = made_up(tmp_path)
    assert tasks.read(object())[0].counts == (0, 0, 0, 4, 5)
    assert not tasks.counts_waits


def test_lines_that_newer_kernels_add_do_no_harm(tmp_path: Path) -> None:
    """Since 6.6 kernels for x86 write of shadow stacks at the end."""
    thread(
        tmp_path, switches=(4, 5), after="x86_Thread_features:\t\nx86_Thread_features_locked:\t\n"
    )
    assert made_up(tmp_path).read(object())[0].counts[3:] == (4, 5)


def test_a_thread_that_ends_while_it_is_read_is_left_out(tmp_path: Path) -> None:
    """Its directory was listed, its files are gone."""
    thread(tmp_path)
    (thread(tmp_path, 43, name="mc-worker") / "stat").unlink()
    assert list(by_place(made_up(tmp_path).read(object()))) == [("main", 0)]


def test_a_process_without_its_main_thread_has_ended(tmp_path: Path) -> None:
    """Without that there is nothing to say of the process."""
    remove(thread(tmp_path))
    with pytest.raises(ProcessLookupError):
        made_up(tmp_path).read(object())


def test_collectors_share_what_was_read(tmp_path: Path) -> None:
    """The second reader of a page has the first one's state; who asks again has a new one."""
    thread(tmp_path, switches=(1, 0))
    tasks, first, second = made_up(tmp_path), object(), object()
    shared = tasks.read(first)
    thread(tmp_path, switches=(2, 0))
    assert tasks.read(second) is shared
    assert tasks.read(second)[0].counts[3] == 2
    thread(tmp_path, switches=(3, 0))
    assert tasks.read(first)[0].counts[3] == 2
    assert tasks.read(first)[0].counts[3] == 3


def test_what_is_old_is_not_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state of an earlier page is read anew, also for one who has not seen it."""
    thread(tmp_path, switches=(1, 0))
    tasks = made_up(tmp_path)
    tasks.read(object())
    thread(tmp_path, switches=(2, 0))
    monkeypatch.setattr("exporter.host.process_tasks._FRESH_SECONDS", 0)
    assert tasks.read(object())[0].counts[3] == 2


def test_real_threads_start_and_end(threads: Threads) -> None:
    """F01: with real threads, the sum is that of the living and of what the ended had counted."""
    workers = [threads.start("mc-worker") for _ in range(3)]
    threads.tell("switch 25")
    tasks, reader = Tasks(process_of(threads.process.pid), detailed=True), object()
    before = by_place(tasks.read(reader))
    assert set(before) == {("main", 0), *(("worker", index) for index in range(3))}
    assert [before["worker", index].counts[3:] for index in range(3)] == [
        threads.switches(worker) for worker in workers
    ]
    assert all(before["worker", index].counts[3] >= 25 for index in range(3))
    assert before["main", 0].counts[3] <= threads.switches(threads.process.pid)[0]

    threads.end(workers[1])
    after = by_place(tasks.read(reader))
    assert after["worker", 1] == before["worker", 1]._replace(runs=False)
    assert [after["worker", index].runs for index in range(3)] == [True, False, True]

    new = threads.start("mc-worker")
    threads.tell("switch 10")
    last = by_place(tasks.read(reader))
    assert set(last) == set(before)
    voluntary, involuntary = threads.switches(new)
    assert last["worker", 1].counts[3:] == (
        before["worker", 1].counts[3] + voluntary,
        before["worker", 1].counts[4] + involuntary,
    )
    assert voluntary >= 10


def test_a_real_thread_gets_its_name(threads: Threads) -> None:
    """A thread's former name keeps what it counted, and the sum is what the kernel says."""
    number = threads.start("memcached")
    tasks, reader = Tasks(process_of(threads.process.pid), detailed=True), object()
    assert by_place(tasks.read(reader))["unknown", 0].runs
    threads.tell(f"rename {number} mc-worker")
    threads.tell("switch 10")
    places = by_place(tasks.read(reader))
    assert places["worker", 0].runs
    assert not places["unknown", 0].runs
    assert (
        places["worker", 0].counts[3] + places["unknown", 0].counts[3]
        == threads.switches(number)[0]
    )


@pytest.mark.parametrize("detailed", [True, False])
def test_no_counter_falls_while_threads_come_and_go(threads: Threads, detailed: bool) -> None:
    """F01: threads that start and end while they are read make no series fall or vanish."""
    threads.start("mc-worker")
    threads.tell("churn")
    tasks, reader = Tasks(process_of(threads.process.pid), detailed=detailed), object()
    before: dict[tuple[str, int], Holding] = {}
    ended = 0
    for _ in range(300):
        places = by_place(tasks.read(reader))
        for place, earlier in before.items():
            assert all(
                now >= then for now, then in zip(places[place].counts, earlier.counts, strict=True)
            )
        ended += sum(earlier.runs and not places[place].runs for place, earlier in before.items())
        before = places
    assert ended
    # As many as there were at a time, not as many as there have been.
    assert len(before) < 30


def test_the_counts_outlast_their_readers() -> None:
    """A process that is found again goes on with what its ended threads had counted."""
    process = process_of(1)
    assert tasks_of(process, detailed=True) is tasks_of(process_of(1), detailed=True)
