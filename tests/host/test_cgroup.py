"""Limits of cgroups, as hosts with version 1, version 2 and both show them."""

from pathlib import Path

import pytest

from exporter.configuration import HostSettings
from exporter.host.cgroup import cgroup
from exporter.host.process import Process

GIB = 1 << 30


def files(directory: Path, **contents: str) -> None:
    """Make a cgroup with these files; ``__`` in their names stands for a dot."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (directory / name.replace("__", ".", 1)).write_text(f"{content}\n")


class Place:
    """A made-up host with one process."""

    def __init__(self, root: Path, membership: str) -> None:
        self.top = root / "sys/fs/cgroup"
        self.top.mkdir(parents=True)
        self.directory = root / "proc/42"
        self.directory.mkdir(parents=True)
        self.move(membership)
        settings = HostSettings(root / "proc", root / "sys")
        self._read = cgroup(Process(42, 1, self.directory), settings)

    def move(self, membership: str) -> None:
        """Put the process into other cgroups."""
        (self.directory / "cgroup").write_text(membership)

    def read(self) -> dict[str, float]:
        """Return what is read of the process's cgroups."""
        return {key: value for key, _, value in self._read()}


V2 = {
    "cpu__max": "150000 100000",
    "cpu__stat": "usage_usec 9\nuser_usec 5\nnr_periods 34\nnr_throttled 31\n"
    "throttled_usec 2260001\nnr_bursts 0",
    "memory__max": "1073741824",
    "memory__current": "5000",
    "memory__events": "low 0\nhigh 0\nmax 7\noom 2\noom_kill 1\noom_group_kill 4",
}
READ = {
    "cpu.max": 1.5,
    "nr_periods": 34,
    "nr_throttled": 31,
    "throttled_usec": 2.260001,
    "memory.max": GIB,
    "memory.current": 5000,
    "oom_kill": 1,
}


def test_version_2(tmp_path: Path) -> None:
    """Times are in seconds, limits in cores and bytes."""
    host = Place(tmp_path, "0::/system.slice/memcached.service\n")
    files(host.top / "system.slice/memcached.service", **V2)
    assert host.read() == READ


def test_no_limit(tmp_path: Path) -> None:
    """Without a limit there is nothing that could hold memcached back."""
    host = Place(tmp_path, "0::/a\n")
    files(host.top / "a", **(V2 | {"cpu__max": "max 100000", "memory__max": "max"}))
    assert host.read() == {}


def test_the_smallest_limit_counts(tmp_path: Path) -> None:
    """That of a pod is on the parent; usage and throttling are those of the same cgroup."""
    host = Place(tmp_path, "0::/pods/pod/container\n")
    files(host.top / "pods", cpu__max="800000 100000", memory__max="999", memory__current="998")
    files(host.top / "pods/pod", **V2)
    files(
        host.top / "pods/pod/container",
        cpu__max="400000 100000",
        cpu__stat="nr_periods 1\nnr_throttled 1\nthrottled_usec 1",
        memory__max="max",
    )
    assert host.read() == {
        **{key: value for key, value in READ.items() if key[:4] in {"cpu.", "nr_p", "nr_t"}},
        "throttled_usec": 2.260001,
        "memory.max": 999,
        "memory.current": 998,
    }


def test_of_equal_limits_the_nearest_counts(tmp_path: Path) -> None:
    """What memcached alone did is told, not what the whole pod did."""
    host = Place(tmp_path, "0::/pod/container\n")
    files(host.top / "pod", **(V2 | {"memory__current": "6000"}))
    files(host.top / "pod/container", **V2)
    assert host.read() == READ


V1_CPU = {
    "cpu__cfs_quota_us": "10000",
    "cpu__cfs_period_us": "100000",
    "cpu__stat": "nr_periods 34\nnr_throttled 31\nthrottled_time 2260001000",
}
V1_MEMORY = {
    "memory__limit_in_bytes": "1073741824",
    "memory__usage_in_bytes": "5000",
    "memory__oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1",
}
MEMBERSHIP_1 = """9:name=systemd:/system.slice/m.service
4:memory:/system.slice/m.service
2:cpu,cpuacct:/system.slice/m.service
"""


@pytest.mark.parametrize("mounted", ["cpu", "cpu,cpuacct"])
@pytest.mark.parametrize("unified", ["", "0::/system.slice/m.service\n"], ids=["v1", "hybrid"])
def test_version_1(tmp_path: Path, mounted: str, unified: str) -> None:
    """Throttled time is in nanoseconds there; controllers that share a hierarchy may be joined.

    On hybrid hosts version 2 is there too, without these controllers.
    """
    host = Place(tmp_path, MEMBERSHIP_1 + unified)
    files(host.top / mounted / "system.slice/m.service", **V1_CPU)
    files(host.top / "memory/system.slice/m.service", **V1_MEMORY)
    files(host.top / "unified/system.slice/m.service", cgroup__procs="42")
    assert host.read() == READ | {"cpu.max": 0.1}


def test_version_1_without_limits(tmp_path: Path) -> None:
    """No quota is -1, and no limit of memory a number that no host has."""
    host = Place(tmp_path, MEMBERSHIP_1)
    files(host.top / "cpu/system.slice/m.service", **(V1_CPU | {"cpu__cfs_quota_us": "-1"}))
    unlimited = {"memory__limit_in_bytes": "9223372036854771712"}
    files(host.top / "memory/system.slice/m.service", **(V1_MEMORY | unlimited))
    assert host.read() == {}


def test_version_1_below_a_limit(tmp_path: Path) -> None:
    """Limits of the cgroups above count here too; kernels before 4.13 do not count kills."""
    host = Place(tmp_path, MEMBERSHIP_1)
    files(host.top / "cpu/system.slice", **V1_CPU)
    files(host.top / "cpu/system.slice/m.service", **(V1_CPU | {"cpu__cfs_quota_us": "-1"}))
    old = {"memory__oom_control": "oom_kill_disable 0\nunder_oom 0"}
    files(host.top / "memory", **(V1_MEMORY | old))
    files(host.top / "memory/system.slice/m.service", memory__limit_in_bytes="2147483648")
    expected = READ | {"cpu.max": 0.1}
    del expected["oom_kill"]
    assert host.read() == expected


def test_each_controller_has_its_version(tmp_path: Path) -> None:
    """On hybrid hosts some controllers may be of version 2, which is then below ``unified``."""
    host = Place(tmp_path, "4:memory:/m\n0::/c\n")
    files(host.top / "memory/m", **V1_MEMORY)
    files(host.top / "unified/c", **{name: V2[name] for name in ("cpu__max", "cpu__stat")})
    assert host.read() == READ


def test_controllers_that_are_not_handed_down(tmp_path: Path) -> None:
    """A cgroup without the controller is held by the one above that has it."""
    host = Place(tmp_path, "0::/slice/service/worker\n")
    files(host.top / "slice", **V2)
    files(host.top / "slice/service/worker", cgroup__procs="42")
    assert host.read() == READ


def test_the_top_of_a_namespace(tmp_path: Path) -> None:
    """In memcached's own container its cgroup is the top of what can be seen."""
    host = Place(tmp_path, "0::/\n")
    files(host.top, **V2)
    assert host.read() == READ


@pytest.mark.parametrize(
    "membership",
    ["0::/../other\n", "0::/..\n", "0::/gone (deleted)\n", "1:name=systemd:/\n", "odd\n", "\n"],
)
def test_cgroups_that_cannot_be_seen(tmp_path: Path, membership: str) -> None:
    """Beside or above a container's own are the limits of others: none is taken for memcached's."""
    host = Place(tmp_path, membership)
    files(host.top, **V2)
    with pytest.raises(FileNotFoundError):
        host.read()


def test_the_last_numbers_are_those_of_its_cgroup_now(tmp_path: Path) -> None:
    """A process can be moved, and limits changed."""
    host = Place(tmp_path, "0::/a\n")
    files(host.top / "a", **V2)
    files(host.top / "b", **(V2 | {"memory__max": "4096"}))
    assert host.read() == READ
    host.move("0::/b\n")
    assert host.read() == READ | {"memory.max": 4096}
    files(host.top / "b", memory__max="8192")
    assert host.read() == READ | {"memory.max": 8192}


def test_names_with_colons_and_blanks(tmp_path: Path) -> None:
    """Names that systemd and container engines give."""
    host = Place(tmp_path, "0::/kubepods.slice/cri:c 1:x [a]*\n")
    files(host.top / "kubepods.slice/cri:c 1:x [a]*", **V2)
    assert host.read() == READ


def test_a_host_without_cgroups(tmp_path: Path) -> None:
    """It does not have the source, be it for the process or in /sys."""
    host = Place(tmp_path, "0::/a\n")
    with pytest.raises(FileNotFoundError):
        host.read()
    (host.directory / "cgroup").unlink()
    with pytest.raises(FileNotFoundError):
        host.read()
