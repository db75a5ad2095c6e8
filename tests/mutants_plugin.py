"""For mutmut: which files it asks, and that a test reaches what its fixtures and the body of its module called too."""

from collections.abc import Generator
from pathlib import Path

import pytest
from mutants_files import is_chosen
from mutmut.state import state

_reached: dict[object, set[str]] = {}


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out files of tests that have nothing to do with what is mutated."""
    return True if collection_path.name.startswith("test_") and not is_chosen(collection_path) else None


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, object, object]:
    return (yield from _recorded(collector))


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
    return (yield from _recorded(fixturedef))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Before mutmut takes down what this test has reached."""
    fixtures = [fixture for found in item._fixtureinfo.name2fixturedefs.values() for fixture in found]  # type: ignore[attr-defined]
    for source in (item.getparent(pytest.Module), *fixtures):
        state()._stats.update(_reached.get(source, ()))


def _recorded(source: object) -> Generator[None, object, object]:
    """Note what is called until the hook returns, and count it to no test yet."""
    before = set(state()._stats)
    state()._stats.clear()
    try:
        return (yield)
    finally:
        _reached[source] = set(state()._stats)
        state()._stats.clear()
        state()._stats.update(before)
