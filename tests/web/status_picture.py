"""Draws docs/pictures/status-page.png: ``python -m tests.web.status_picture``, in three minutes.

Three real servers under load: a healthy one, one that is too small and has many clients, and one
that was frozen for a while.
"""

import contextlib
import io
import random
import socket
import tempfile
import threading
import time
from pathlib import Path

import pymemcache  # type: ignore[import-untyped]
from PIL import Image

from tests.processes import Exporter, Memcached
from tests.web.browser import ask, chromium, scheme, screen

PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "status-page.png"
SCRAPES = 34
INTERVAL_SECONDS = 5.1
FROZEN = range(14, 17)
"""The scrapes that find the third server hung."""
WIDTH = 1280
COLOURS = 160
SMALL = ("-t", "2", "-m", "8", "-c", "60")
LOADS = ((0.001, 300, 80), (0.3, 9000, 20), (0.01, 4000, 40))
"""Share of misses, bytes of a value, and gets in a tenth of a second."""


def load(server: Memcached, misses: float, size: int, burst: int, ended: threading.Event) -> None:
    """Ask for keys of which some are not there, and store those, until ended."""
    chance = random.Random(server.port)
    client = server.client()
    while not ended.wait(0.1):
        with contextlib.suppress(OSError, pymemcache.MemcacheError):
            for _ in range(burst):
                key = f"k{chance.randrange(2000)}"
                if chance.random() < misses or client.get(key) is None:
                    client.set(key, b"x" * size)
                    client.get(f"absent-{key}")
    client.close()


def scrape(daemon: Exporter, server: Memcached) -> None:
    """Scrape as Prometheus does, with a server that is hung for some of the time."""
    for number in range(SCRAPES):
        if number == FROZEN.start:
            server.freeze()
        if number == FROZEN.stop:
            server.thaw()
        daemon.request("/metrics")
        time.sleep(INTERVAL_SECONDS)


def draw(daemon: Exporter) -> None:
    """Take the picture of the servers and the first findings."""
    with chromium() as browser:
        screen(browser, WIDTH)
        scheme(browser, "light")
        browser.get(f"http://{daemon.host}:{daemon.port}/")
        articles = "document.querySelectorAll('article')"
        bottom = f"[...{articles}].slice(0, 2).map(e => e.getBoundingClientRect().bottom)"
        screen(browser, WIDTH, int(max(ask(browser, bottom))) + 8)
        picture = Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")
    # A page has few colours: a third of the bytes show the same.
    picture.quantize(COLOURS).save(PICTURE, optimize=True)


def main() -> None:
    """Start everything, wait, draw, and end everything."""
    ended = threading.Event()
    with contextlib.ExitStack() as stack:
        servers = [Memcached(*options) for options in (("-t", "2"), SMALL, ("-t", "2"))]
        for server in servers:
            stack.callback(server.stop)
        log = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "exporter.log"
        flags = [f"--memcached.address={server.address}" for server in servers]
        daemon = Exporter(log, *flags)
        stack.callback(daemon.stop)
        for _ in range(32):
            idle = socket.create_connection((servers[1].host, servers[1].port))
            stack.callback(idle.close)
        for server, kind in zip(servers, LOADS, strict=True):
            threading.Thread(target=load, args=(server, *kind, ended), daemon=True).start()
        stack.callback(ended.set)
        scrape(daemon, servers[2])
        draw(daemon)


if __name__ == "__main__":
    main()
