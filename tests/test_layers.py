"""The way through the house: imports go one way, and rooms stay small."""

import ast
from pathlib import Path

import pytest

ROOMS = [
    {"errors", "allocator"},
    {"addresses", "durations", "tls"},
    {"catalogue", "health"},
    {"configuration", "documentation"},
    {"host"},
    {"telemetry", "logs"},
    {"memcached"},
    {"discovery"},
    {"exposition"},
    {"observation"},
    {"web"},
    {"service"},
    {"daemon", "check"},
    {"flags"},
    {"watch"},
    {"cli"},
    {"__main__"},
]
"""From the lowest to the highest; a room imports from its own and from lower ones."""

PACKAGE = Path(__file__).parent.parent / "exporter"
MODULES = sorted(PACKAGE.rglob("*.py"))
MOST_LINES = 350


def room(module: str) -> str:
    """Return the room of a dotted module below the package; the package itself is no room."""
    return [*module.split("."), ""][1]


def rank(name: str) -> int:
    """Return how high a room is; a room that the table does not have is a failure."""
    ranks = [i for i, rooms in enumerate(ROOMS) if name in rooms]
    assert ranks, f"the room {name} has no place in the table of tests/test_layers.py"
    return ranks[0]


def dotted(path: Path) -> str:
    """Return the name of a module file."""
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)


def imports(path: Path) -> set[str]:
    """Return the dotted names of all that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(), path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the room"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_imports_go_one_way(path: Path) -> None:
    """No room imports from a higher one, nor from one beside it."""
    own = room(dotted(path))
    if own == "__init__":
        assert not [name for name in imports(path) if name.startswith("exporter.")]
        return
    for name in imports(path):
        if not name.startswith("exporter.") or name == "exporter.__version__":
            continue
        other = room(name)
        assert other == own or rank(other) < rank(own), f"{dotted(path)} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_libraries_stay_in_their_room(path: Path) -> None:
    """Each library that could be exchanged is known to one room only."""
    homes = {
        "prometheus_client": "telemetry",
        "pymemcache": "memcached",
        "yaml": "configuration",
        "http": "web",
        "socketserver": "web",
        "isal": "web",
        "bcrypt": "web",
        "dns": "discovery",
        "rich": "watch",
    }
    for name in imports(path):
        library = name.partition(".")[0]
        assert homes.get(library, room(dotted(path))) == room(dotted(path)), name


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_files_are_small(path: Path) -> None:
    """A file is read in one sitting."""
    assert len(path.read_text().splitlines()) <= MOST_LINES


def test_the_modules_are_found() -> None:
    """The tests above look at the package, and each room of the table exists."""
    assert len(MODULES) > 20
    assert {name for rooms in ROOMS for name in rooms} <= {room(dotted(p)) for p in MODULES}
