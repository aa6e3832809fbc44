"""The exporter's metrics about itself."""

import platform
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter import __version__
from exporter.errors import Reason
from exporter.exposition import OPENMETRICS_END, Format, own_page
from exporter.telemetry import Telemetry
from tests.processes import Exporter, FakeMemcached, Memcached, parse, sample
from tests.web.clients import parse_openmetrics


def rendered(telemetry: Telemetry, form: Format = Format.TEXT) -> str:
    """Return the part of a page that is about the exporter, as a whole page."""
    end = OPENMETRICS_END if form is Format.OPENMETRICS else ""
    return own_page(telemetry.collect(), form) + end


def test_all_reasons_exist_from_the_start() -> None:
    """Errors are counted from 0, so that the first one is a rise that Prometheus sees."""
    samples = parse(rendered(Telemetry()))
    counts = {
        dict(labels)["reason"]: value
        for (name, labels), value in samples.items()
        if name == "memcached_exporter_scrape_errors_total"
    }
    assert counts == {reason.value: 0 for reason in Reason}


def test_errors_are_counted_by_reason() -> None:
    """Each failed scrape is one more of its reason."""
    telemetry = Telemetry()
    telemetry.count_error(Reason.TIMEOUT)
    telemetry.count_error(Reason.TIMEOUT)
    telemetry.count_error(Reason.DNS)
    samples = parse(rendered(telemetry))
    for reason, count in [("timeout", 2), ("dns", 1), ("refused", 0)]:
        key = sample("memcached_exporter_scrape_errors_total", reason=reason)
        assert samples[key] == count


def test_pages_are_timed_by_path() -> None:
    """The time of pages is a summary with sum and count."""
    telemetry = Telemetry()
    telemetry.observe_page("/metrics", 0.25)
    telemetry.observe_page("/metrics", 0.5)
    samples = parse(rendered(telemetry))
    name = "memcached_exporter_page_duration_seconds"
    assert samples[sample(f"{name}_count", path="/metrics")] == 2
    assert samples[sample(f"{name}_sum", path="/metrics")] == pytest.approx(0.75)


def test_probes_begin_at_0_and_are_counted() -> None:
    """A server's probes are a histogram by operation, whose series exist from the start."""
    telemetry = Telemetry()
    telemetry.expect_probes(["noop", "get"], "a:1")
    labels = {"operation": "get", "server": "a:1"}
    name = "memcached_probe_duration_seconds"
    samples = parse(rendered(telemetry))
    assert samples[sample(f"{name}_count", **labels)] == 0
    assert samples[sample("memcached_probe_failures_total", **labels)] == 0
    telemetry.observe_probe("get", "a:1", 0.003)
    telemetry.count_probe_failure("get", "a:1")
    samples = parse(rendered(telemetry))
    assert samples[sample(f"{name}_bucket", le="0.0025", **labels)] == 0
    assert samples[sample(f"{name}_bucket", le="0.005", **labels)] == 1
    assert samples[sample(f"{name}_bucket", le="+Inf", **labels)] == 1
    assert samples[sample(f"{name}_sum", **labels)] == pytest.approx(0.003)
    assert samples[sample("memcached_probe_failures_total", **labels)] == 1
    assert samples[sample(f"{name}_count", operation="noop", server="a:1")] == 0


def test_versions_and_process() -> None:
    """Build, Python and process are told by the names that dashboards know."""
    samples = parse(rendered(Telemetry()))
    build = sample(
        "memcached_exporter_build_info",
        version=__version__,
        python_version=platform.python_version(),
    )
    assert samples[build] == 1
    names = {name for name, _ in samples}
    assert {
        "process_resident_memory_bytes",
        "process_cpu_seconds_total",
        "process_open_fds",
        "process_start_time_seconds",
        "python_info",
        "python_gc_collections_total",
    } <= names


def test_there_are_no_created_series() -> None:
    """Counters bring no second series with the time of their birth, in neither format (C11)."""
    telemetry = Telemetry()
    telemetry.count_error(Reason.AUTH)
    telemetry.observe_page("/metrics", 1)
    for form in Format:
        assert "_created" not in rendered(telemetry, form)


def test_the_two_formats_say_the_same() -> None:
    """Text and OpenMetrics have the same samples, histograms and summaries included."""
    telemetry = Telemetry()
    telemetry.observe_page("/metrics", 1)
    telemetry.observe_probe("noop", "a:1", 1)
    text, openmetrics = rendered(telemetry), rendered(telemetry, Format.OPENMETRICS)
    assert parse_openmetrics(openmetrics).keys() == parse(text).keys()


def test_instances_do_not_share_counts() -> None:
    """Two of them in one process count for themselves, and nothing goes to a global registry."""
    first, second = Telemetry(), Telemetry()
    first.count_error(Reason.TLS)
    key = sample("memcached_exporter_scrape_errors_total", reason="tls")
    assert parse(rendered(first))[key] == 1
    assert parse(rendered(second))[key] == 0


def test_promtool_has_nothing_to_say() -> None:
    """Names, units and HELP texts satisfy Prometheus' own checker."""
    telemetry = Telemetry()
    telemetry.observe_page("/metrics", 1)
    result = subprocess.run(
        ["promtool", "check", "metrics"],
        input=rendered(telemetry).encode(),
        capture_output=True,
        check=False,
        timeout=30,
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")


def test_the_daemon_counts(
    fake: Callable[..., FakeMemcached], exporter: Callable[..., Exporter]
) -> None:
    """Pages and errors of scrapes are on the next page, for both paths and not for others."""
    good, half = fake(), fake("--mode", "half")
    daemon = exporter(f"--memcached.address={good.address}", f"--memcached.address={half.address}")
    first = daemon.samples()
    assert first[sample("memcached_exporter_scrape_errors_total", reason="closed")] == 1
    daemon.request(f"/scrape?target={half.address}")
    daemon.request(f"/scrape?target={good.address}")
    daemon.request("/scrape?target=10.0.0.1:1")
    daemon.request("/nope")
    second = daemon.samples()
    assert second[sample("memcached_exporter_scrape_errors_total", reason="closed")] == 3
    assert second[sample("memcached_exporter_scrape_errors_total", reason="timeout")] == 0
    pages = {
        dict(labels)["path"]: value
        for (name, labels), value in second.items()
        if name == "memcached_exporter_page_duration_seconds_count"
    }
    assert pages == {"/metrics": 2, "/scrape": 2}


@pytest.mark.parametrize("labels", ["{}", "{cluster: 'x', _rack: 'a \"b\" \\ c'}"])
def test_promtool_has_nothing_to_say_of_whole_pages(
    memcached: Callable[..., Memcached],
    exporter: Callable[..., Exporter],
    tmp_path: Path,
    labels: str,
) -> None:
    """Prometheus' own checker accepts whole pages without a remark."""
    server = memcached()
    config = tmp_path / "exporter.yml"
    config.write_text(
        f"servers:\n- address: '{server.address}'\n  labels: {labels}\n- address: '127.0.0.1:1'\n"
    )
    daemon = exporter(f"--config.file={config}")
    for path in ("/metrics", f"/scrape?target={server.address}", "/metrics"):
        result = subprocess.run(
            ["promtool", "check", "metrics"],
            input=daemon.request(path).body,
            capture_output=True,
            check=False,
            timeout=30,
        )
        assert (result.returncode, result.stdout, result.stderr) == (0, b"", b""), path
