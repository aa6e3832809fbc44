"""A source of the host that cannot be read, beside a real server (field report C05)."""

from collections.abc import Callable
from pathlib import Path

from tests.processes import Exporter, Memcached, sample


def test_a_directory_in_place_of_a_file(
    memcached: Callable[..., Memcached], exporter: Callable[..., Exporter], tmp_path: Path
) -> None:
    """An unreadable source is its own metric at 0 and one log line; the server's are all there."""
    server = memcached("-m", "48")
    config = tmp_path / "exporter.yml"
    # Settings depend on what is seen of the process, which a made-up /proc does not have.
    module = "modules: {default: {assume_no_napi_ids: true}}\n"
    servers = f"servers: [{{address: '{server.address}'}}]\n{module}"
    config.write_text(f"{servers}host: {{enabled: false}}\n")
    of_server = {
        (name, labels)
        for name, labels in exporter(f"--config.file={config}").samples()
        if ("server", server.address) in labels
    }
    procfs = tmp_path / "proc"
    for net in ("net", "1/net", "self/net"):
        (procfs / net / "softnet_stat").mkdir(parents=True)
    config.write_text(f"{servers}host: {{procfs: '{procfs}'}}\n")
    daemon = exporter(f"--config.file={config}")
    success = sample("memcached_host_collector_success", collector="softnet")
    for _ in range(5):
        samples = daemon.samples()
        assert samples[success] == 0
        assert samples[sample("memcached_up", server=server.address)] == 1
        assert samples[sample("memcached_limit_bytes", server=server.address)] == 48 * 2**20
        assert of_server <= samples.keys()
        assert not any(name.startswith("memcached_host_softnet") for name, _ in samples)
    lines = [line for line in daemon.log.splitlines() if "softnet" in line]
    assert len(lines) == 1
    assert "level=warning" in lines[0]
    assert "softnet_stat: is a directory" in lines[0]
    assert "Traceback" not in daemon.log
