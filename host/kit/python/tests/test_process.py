"""The program behind the kit: found, one for a process, gone with it."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap

import pytest

import redeliver_testing as redeliver
from redeliver_testing import KitTimeout, _process, aio

PACK = {"Pack": {"trigger": {"type": "queueTrigger", "queueName": "boxes"}, "handler": "succeed"}}


def test_one_process_serves_all_hosts():
    with redeliver.start(functions=PACK) as one, redeliver.start(functions=PACK) as other:
        assert one._session.kit is other._session.kit is _process.kit()
        assert one._session.id != other._session.id


def test_a_program_that_is_not_there(monkeypatch):
    monkeypatch.setenv("REDELIVER_BINARY", "/no/such/redeliver")
    with pytest.raises(redeliver.KitError, match="no such file"):
        redeliver.Kit()
    monkeypatch.delenv("REDELIVER_BINARY")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(redeliver.KitError, match="pip install redeliver-cli"):
        redeliver.Kit()


@pytest.mark.parametrize("says", ['{"kit": 99, "version": "9.9"}', "usage: another program", ""])
def test_another_program(monkeypatch, tmp_path, says):
    program = tmp_path / "redeliver"
    program.write_text(f"#!/bin/sh\necho 'what it is' >&2\nprintf '%s\\n' '{says}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("REDELIVER_BINARY", str(program))
    with pytest.raises(redeliver.KitError) as refused:
        redeliver.Kit()
    assert refused.value.code == "wrong_version"
    assert "what it is" in str(refused.value) and "pip install --upgrade" in str(refused.value)


def test_a_program_that_serves_another_process_too(monkeypatch):
    first = _process.kit()
    monkeypatch.setenv("REDELIVER_KIT", first._line)
    shared = redeliver.Kit()
    assert (shared.port, shared.lives) == (first.port, True)
    shared.close()
    assert first.lives


def test_a_program_that_ends_is_told_of():
    host = redeliver.start(functions=PACK)
    kit = host._session.kit
    kit._process.kill()
    with pytest.raises(redeliver.KitError, match="redeliver kit ended with"):
        host.send("boxes", "1")
    with redeliver.start(functions=PACK) as again:  # a new one
        assert again._session.kit is not kit


CHILD = textwrap.dedent("""
    import os, sys
    import redeliver_testing
    host = redeliver_testing.start(functions={"Pack": {"trigger": {"type": "queueTrigger", "queueName": "boxes"}, "handler": lambda: sys.stdin.read()}})
    print(host._session.kit._process.pid, flush=True)
    host.send("boxes", "1")
""")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_test_that_is_killed_leaves_nothing():
    child = subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    kit = int(child.stdout.readline())
    child.send_signal(signal.SIGKILL)
    child.wait()
    # The kit's standard output is a pipe of the child's, which nobody reads; its end is seen here.
    assert ended(kit)


def ended(pid):
    """Waits for the end of a process that is no child of this one."""
    import time

    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
            with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.005)
    return False


def test_a_host_whose_handler_never_returns_ends():
    async def handler(box):
        await asyncio.Event().wait()

    async def stuck():
        host = await aio.start(functions={"Pack": {"trigger": {"type": "queueTrigger", "queueName": "boxes"}, "handler": handler}}, timeout=1)._open()
        with pytest.raises(KitTimeout, match="Pack attempt 1 has run for 1 s"):
            await host.send("boxes", 1)
        host._session._seconds = 60  # it takes one, on a machine that is not busy
        await host.stop()

    asyncio.run(stuck())
