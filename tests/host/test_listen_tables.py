"""Accept queues from /proc/PID/net/tcp, as kernels write it."""

from pathlib import Path

import pytest

from exporter.host.process import Process
from tests.host.queues import NONE_DROPPED, queue, read


def fixture(root: Path, arguments: str, **files: str) -> Process:
    """Make a process with these arguments and these tables of its network."""
    (root / "net").mkdir()
    (root / "cmdline").write_text(arguments.replace(" ", "\0") + "\0")
    (root / "status").write_text("Name:\tmemcached\nUid:\t0\t112\t112\t112\n")
    for name, content in files.items():
        (root / "net" / name).write_text(content)
    return Process(42, 1, root)


HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"


def row(local: str, *, state: str = "0A", waiting: int = 0, user: int = 112) -> str:
    """Return a row of /proc/net/tcp as machines of little endian write it."""
    remote = "0" * len(local.partition(":")[0]) + ":0000"
    return (
        f"   0: {local} {remote} {state} 00000000:{waiting:08X} 00:00000000 00000000"
        f" {user:5} {0:8} 12345 1 0000000000000000 100 0 0 10 0\n"
    )


def test_a_table(tmp_path: Path) -> None:
    """Only listening sockets at memcached's places, and no row behind the listening ones."""
    tables = {
        "tcp": HEAD
        + row("0100007F:2BCB", waiting=17)
        + "torn row\n"
        + row("0200007F:2BCB", waiting=18)
        + row("0100007F:2BCC", waiting=19)
        + row("0100007F:2BCB", state="01", waiting=20)
        + row("0100007F:2BCD", waiting=21),
        "tcp6": HEAD + row("00000000000000000000000001000000:2BCB", waiting=3),
    }
    found = read(fixture(tmp_path, "memcached -l 127.0.0.1,[::1],127.0.0.1:11213", **tables))
    assert found == {**queue("127.0.0.1:11211", 17, None), **queue("[::1]:11211", 3, None)}


def test_a_server_told_a_name(tmp_path: Path) -> None:
    """What the name means is not asked: the port decides, and the user who runs memcached."""
    table = HEAD + row("0100000A:2BCB", waiting=1) + row("0200000A:2BCB", waiting=2, user=33)
    found = read(fixture(tmp_path, "memcached -l cache.example.org", tcp=table))
    assert found == queue("10.0.0.1:11211", 1, None)


def test_the_number_of_addresses_has_a_limit(tmp_path: Path) -> None:
    """Of 70 addresses 64 have series; the others' length and limit are counted as dropped."""
    table = HEAD + "".join(row(f"{n:02X}00000A:2BCB", waiting=n) for n in range(70))
    found = read(fixture(tmp_path, "memcached -l cache.example.org", tcp=table))
    assert len(found) == 65
    assert found["length", ("10.0.0.63:11211",)] == 63
    assert found["series_dropped", ()] == 6


def test_a_unix_socket_has_no_queue(tmp_path: Path) -> None:
    """Nothing is taken for it, even when somebody listens on the default port."""
    which = fixture(tmp_path, "memcached -s /run/x", tcp=HEAD + row("00000000:2BCB"))
    assert read(which) == NONE_DROPPED


def test_a_kernel_without_ipv6(tmp_path: Path) -> None:
    """It has no /proc/net/tcp6."""
    which = fixture(tmp_path, "memcached", tcp=HEAD + row("00000000:2BCB", waiting=2))
    assert read(which) == queue("0.0.0.0:11211", 2, None)


def test_a_network_without_sockets_of_a_version(tmp_path: Path) -> None:
    """The table, which the kernel would make at a high price, is not asked for."""
    tables = {
        "sockstat": "TCP: inuse 10 orphan 0 tw 0 alloc 2 mem 1\n",
        "sockstat6": "TCP6: inuse 0\n",
        "tcp": HEAD + row("00000000:2BCB", waiting=2),
        "tcp6": HEAD + row("0" * 32 + ":2BCB", waiting=3),
    }
    which = fixture(tmp_path, "memcached", **tables)
    assert read(which) == queue("0.0.0.0:11211", 2, None)
    (tmp_path / "net/sockstat6").write_text("TCP6: inuse 1\n")
    assert read(which) == queue("0.0.0.0:11211", 2, None) | queue("[::]:11211", 3, None)


def test_a_process_that_is_gone(tmp_path: Path) -> None:
    """The host does not have the source."""
    with pytest.raises(FileNotFoundError):
        read(Process(42, 1, tmp_path / "42"))
