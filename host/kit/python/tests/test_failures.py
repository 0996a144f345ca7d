"""A test that fails says why: in the error, and in sections of pytest's report."""

import json
import os
import re
import textwrap

import pytest

import redeliver_testing as redeliver

HERE = os.path.dirname(os.path.abspath(__file__))


def read(*path):
    with open(os.path.join(HERE, *path), encoding="utf-8") as file:
        return file.read()


def founding(change):
    """The founding tests with something else in one place."""
    text = read("test_founding.py")
    old, new = change
    assert text.count(old) == 1, old
    return text.replace(old, new)


@pytest.fixture
def run(pytester):
    """Runs tests in a process of their own, with the app, and gives what pytest prints."""
    def run(text, *arguments):
        pytester.makepyfile(test_it=text)
        pytester.makeconftest(f"import sys\nsys.path.insert(0, {os.path.join(HERE, 'shop')!r})\npytest_plugins = ['redeliver_testing.plugin']\n")
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)

    return run


@pytest.mark.parametrize(
    "change, lines",
    [
        pytest.param(
            ("[5] * 10", "[4] * 10"),
            ["*assert [[]5, 5, 5,*== [[]4, 4, 4,*", "*Captured redeliver timeline*", "*message m7 of parcels, function ship (serviceBusTrigger)*",
             "*attempt 1 of 5 failed: RuntimeError: carrier unavailable*", "*Captured redeliver log*", "*booking 7, retry 0*"],
            id="a plain assert",
        ),
        pytest.param(("(10, 5, 4, \"exhausted\")", "(10, 5, 4, \"retry\")"), ["*At index 3 diff: 'exhausted' != 'retry'*"], id="an attempt"),
        pytest.param(
            ("[1, 1, 1, 1, 1]", "[1, 1, 1]"),
            ["*functions.Pack.deliveries:*", "*want  [[]1 1 1[]]*", "*got   [[]1 1 1 1 1[]]*", "*seed 1; again with REDELIVER_SEED=1 python -m pytest test_*.py::test_*"],
            id="expect",
        ),
        pytest.param(("[3, 5, 5, 5, 5]", "[2, 5, 5, 5, 5]"), ["*assert [[]3, 5, 5, 5, 5[]] == [[]2, 5, 5, 5, 5[]]*"], id="a crash"),
        pytest.param(
            ('host.dead_lettered("parcels")', 'host.poisoned("ship")'),
            ["*Failure: a poisoned message of ship has not come*", "*seed 1; again with REDELIVER_SEED=1 python -m pytest test_*.py::test_*"], id="a wait",
        ),
        pytest.param(('host.dead_lettered("parcels")', 'host.dead_lettered("parcel")'), ["*parcel*"], id="a name"),
    ],
)
def test_a_wrong_number(run, change, lines):
    result = run(founding(change))
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(lines)


def test_as_printed(run):
    run(founding(("import pytest\n", "import pytest\n"))).assert_outcomes(passed=3)


def test_the_page(run):
    """docs/kits/python.md: its app is ours, its first test fails as printed, and passes once it
    is right; the others pass."""
    page = read(*[os.pardir] * 4, "docs", "kits", "python.md")
    app, first, mocked, alone, settings, sdk = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert app in read("shop", "function_app.py")
    [printed] = re.findall(r"```console\n\$ python -m pytest\n(.*?)```", page, re.DOTALL)
    failed = run(first)
    failed.assert_outcomes(failed=1)
    output = failed.stdout.str()
    for line in printed.splitlines():
        at = output.find(line.strip("."))
        assert at >= 0, line
        output = output[at:]
    run(first.replace("== [5]", "== [5] * 10")).assert_outcomes(passed=1)
    imports = "from unittest import mock\nimport function_app\nimport redeliver_testing as redeliver\n"
    started = "def test_settings():\n" + textwrap.indent(settings, "    ") + textwrap.indent(STARTED, "    ")
    run(imports + "def test_mocked():\n" + textwrap.indent(mocked, "    ") + alone + started).assert_outcomes(passed=3)
    compile(sdk, "the page", "exec")


STARTED = """
ship = {"trigger": {"type": "serviceBusTrigger", "queueName": "parcels", "connection": "ServiceBusConnection"}, "handler": "succeed"}
feed = {"trigger": {"type": "cosmosDBTrigger", "databaseName": "shop", "containerName": "orders", "connection": "CosmosConnection"}, "handler": "succeed"}
with redeliver.start(functions={"Ship": ship, "Feed": feed}, settings=settings) as host:
    host.send_service_bus("parcels", 7)
    host.completed("Ship")
"""


def test_four_processes(run):
    pytest.importorskip("xdist")
    text = "import pytest\n" + founding(("@pytest.fixture\ndef host", "pytestmark = pytest.mark.parametrize('n', range(4))\n\n@pytest.fixture\ndef host"))
    text = text.replace("(host):", "(host, n):").replace("deliveries():", "deliveries(n):").replace("anew():", "anew(n):")
    run(text, "-n", "4").assert_outcomes(passed=12)


def test_a_journal_is_kept(run, tmp_path, monkeypatch):
    monkeypatch.setenv("REDELIVER_KEEP", str(tmp_path))
    run(founding(("[3, 5, 5, 5, 5]", "[2, 5, 5, 5, 5]")))
    [kept] = tmp_path.iterdir()
    assert "anew" in kept.name
    assert [json.loads(line)["kind"] for line in kept.read_text(encoding="utf-8").splitlines()][0] == "host_started"


def test_a_fault_that_nothing_met_fails_the_end():
    pack = {"Pack": {"trigger": {"type": "queueTrigger", "queueName": "boxes"}, "handler": "succeed"}}
    with pytest.raises(redeliver.Failure, match="Delete|fault"):
        with redeliver.start(functions=pack) as host:
            host.fault(service="queue", entity="boxes", operation="Delete", times=1)
    with pytest.raises(ZeroDivisionError):  # the test's own failure counts
        with redeliver.start(functions=pack) as host:
            host.fault(service="queue", entity="boxes", operation="Delete", times=1)
            1 / 0
