"""Handlers that sleep by the clock of their host."""

import asyncio
import logging
import time
from datetime import datetime, timedelta

import pytest

import redeliver_testing as redeliver
from redeliver_testing import aio

BOXES = {"type": "queueTrigger", "queueName": "boxes"}
UNLIMITED = {"functionTimeout": "-1"}


def napping(handler, **more):
    return {"functions": {"Nap": {"trigger": BOXES, "handler": handler}}, "host": UNLIMITED, **more}


def times(host_journal, begin):
    return [(datetime.fromisoformat(r["time"][:26] + "+00:00") - begin).total_seconds() for r in host_journal]


def test_a_handler_sleeps_in_virtual_time():
    def nap(item):
        logging.info("before")
        host.clock.sleep("15m")
        logging.info("between")
        host.clock.sleep(timedelta(minutes=5))
        host.clock.sleep(1.5)

    with redeliver.start(**napping(nap)) as host:
        begin = host.clock.now()
        host.send("boxes", 1)
        host.completed("Nap")
        assert host.clock.now() - begin == timedelta(minutes=20, seconds=1.5)
        assert times(host.journal({"kind": "handler_log"}), begin) == [0, 900]
        assert host.clock.sleep("1h", "slept") == "slept"  # moves time, as it would in a handler
        assert host.clock.now() - begin == timedelta(hours=1, minutes=20, seconds=1.5)
        with pytest.raises(TypeError):
            host.clock.sleep("soon")
        with pytest.raises(TypeError):
            host.clock.advance(30)


def test_it_takes_the_place_of_time_sleep(monkeypatch):
    def nap(item):
        time.sleep(900)

    with redeliver.start(**napping(nap)) as host:
        begin = host.clock.now()
        monkeypatch.setattr(time, "sleep", host.clock.sleep)
        host.send("boxes", 1)
        host.completed()
        assert host.clock.now() - begin == timedelta(minutes=15)


def test_a_sleep_ends_with_its_invocation():
    seen = []

    def nap(item):
        try:
            host.clock.sleep("2h")
        except Exception as error:
            seen.append(str(error))
            raise

    with redeliver.start(functions={"Nap": {"trigger": BOXES, "handler": nap}}, host={"functionTimeout": "00:30:00"}) as host:
        host.send("boxes", 1)
        host.settled("Nap")
        assert host.attempts("Nap")[0].status == "timed_out"
    assert "the invocation has to end" in seen[0]


def test_sync_handlers_cannot_wake_before_those_that_began_later():
    def nap(item: str):
        host.clock.sleep(f"{item}m")

    with redeliver.start(**napping(nap)) as host:
        host.send("boxes", 2, visibility="30s")  # begins while the other one sleeps, and ends later
        host.send("boxes", 1)
        host.until({"kind": "attempt_ended", "status": "failed"})
        assert "two handlers sleep at once" in host.attempts("Nap")[1].error.message


def test_async_handlers_sleep_side_by_side():
    woken = []

    async def run(seed=7, real=0.0):
        async def nap(item: str):
            async def part(name, *spans):
                for span in spans:
                    await host.clock.sleep(span)
                woken.append(name)

            await asyncio.sleep(real)
            late = asyncio.ensure_future(part("never", "9h"))
            await asyncio.gather(part("2m", "2m"), part("2m30s", "1m", 90), part("1m", "1m"))
            late.cancel()
            logging.info("up")

        async with aio.start(**napping(nap, seed=seed)) as host:
            begin = await host.clock.now()
            for body in (1, 2):
                await host.send("boxes", body)
            await host.idle()
            assert times(await host.journal({"kind": "handler_log"}), begin) == [150, 150]
            journal = await host.journal()
            tick = asyncio.ensure_future(host.clock.sleep("1h"))  # of something beside handlers
            while not tick.done():  # it may come after a call that moves time
                await host.clock.advance("2h")
            return journal

    journals = [asyncio.run(run(real=real)) for real in (0.0, 0.002, 0.001)]
    assert sorted(woken[:6]) == ["1m", "1m", "2m", "2m", "2m30s", "2m30s"]
    assert journals[0] == journals[1] == journals[2]
