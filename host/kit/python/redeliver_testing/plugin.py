"""The plugin for pytest: fixtures, the marker, and the sections of a report."""

from __future__ import annotations

from typing import Any, Dict, Generator, Iterator, List

import pytest

from . import Failure, Host, Kit, KitError, _again, _process, _timeline, start


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "redeliver(**options): the options of redeliver_testing.start for the fixture redeliver_host")


@pytest.fixture(scope="session")
def redeliver_kit() -> Kit:
    """The kit of this process."""
    return _process.kit()


@pytest.fixture
def redeliver_host(request: pytest.FixtureRequest, redeliver_kit: Kit) -> Iterator[Host]:
    """A host of this test, with the options of its marker."""
    options: Dict[str, Any] = {"name": request.node.nodeid}
    for mark in reversed(list(request.node.iter_markers("redeliver"))):
        if mark.args:
            raise KitError(f"the marker redeliver takes options by name, and not {mark.args!r}")
        options.update(mark.kwargs)
    with start(**options) as host:
        yield host


_before: List[Any] = []  # hosts that ran when the test began


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    _before[:] = _timeline.hosts
    _again.rooted(str(item.config.rootpath))
    yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, None]:
    """Ends the hosts that the test has started and left: a fault that nothing has met is told."""
    outcome = yield
    left = [host for host in _timeline.hosts if isinstance(host, Host) and host not in _before]
    failures = []
    for host in left:
        try:
            host.stop()
        except Failure as failure:
            failures.append(failure)
        except KitError:
            pass  # the program has ended: calls have told of it
    if failures and outcome.excinfo is None:
        outcome.force_exception(failures[0])


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    outcome = yield
    report = outcome.get_result()
    if report.when == "setup":
        _timeline.kept.clear()
    if not report.failed:
        return
    for host in list(_timeline.hosts):
        if isinstance(host, Host):
            host._remember()
    for _, timeline, logs in _timeline.kept:
        report.sections.append(("Captured redeliver timeline", timeline))
        if logs:
            report.sections.append(("Captured redeliver log", "\n".join(logs)))
    _timeline.kept.clear()
