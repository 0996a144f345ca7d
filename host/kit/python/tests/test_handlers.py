"""Handlers of the test's own process."""

import asyncio
import logging
import threading
import time
from unittest import mock

import azure.functions as func
import pytest

import function_app
import redeliver_testing as redeliver
from redeliver_testing import aio

QUEUE = {"type": "queueTrigger", "queueName": "boxes"}


def pack(handler, **more):
    return {"Pack": {"trigger": QUEUE, "handler": handler, **more}}


def test_they_run_on_the_thread_of_the_test():
    seen = []

    def handler(box: func.QueueMessage, context: func.Context):
        seen.append((threading.current_thread(), box.get_json(), box.dequeue_count, context.function_name))

    with redeliver.start(functions=pack(handler)) as host:
        host.send("boxes", {"id": 7})
        assert seen == [(threading.main_thread(), {"id": 7}, 1, "Pack")]
        assert host.settled("Pack")["decision"] == "deleted"


@pytest.mark.parametrize("handler", [lambda: None, lambda box: None, lambda *given: None, mock.Mock(return_value=None)], ids=["none", "one", "any", "mock"])
def test_they_take_what_they_want(handler):
    with redeliver.start(functions=pack(handler)) as host:
        host.send("boxes", "1")
        assert host.settled()["decision"] == "deleted"


def test_a_mock_counts_attempts_and_keeps_no_stack():
    failure = RuntimeError("carrier unavailable")
    book = mock.Mock(side_effect=failure)
    policy = {"strategy": "fixedDelay", "maxRetryCount": 4, "delayInterval": "00:00:30"}
    with redeliver.start(functions=pack(book, retry=policy)) as host:
        host.send("boxes", "1")
        host.poisoned("Pack")
    assert book.call_count == 25
    assert failure.__traceback__ is None


def test_an_async_handler_runs_to_its_end():
    async def handler(box):
        await asyncio.sleep(0)
        logging.getLogger("pack").warning("packed %s", box.get_body().decode())

    with redeliver.start(functions=pack(handler)) as host:
        host.send("boxes", "1")
        host.settled("Pack")
        assert any("packed 1" in line for line in host.logs("Pack"))


def test_outputs_and_answers_travel(monkeypatch):
    monkeypatch.setattr(function_app.carrier, "book", lambda order: f"booked {order['id']}")
    with redeliver.start(app=function_app.app) as host:
        answer = host.request("POST", "/api/orders/7")
        assert (answer.status, answer.text()) == (202, "booked 7")
        [parcel] = host.queue("packed")
        assert parcel.text() == "7"


def test_an_app_without_a_folder():
    app = func.FunctionApp()

    @app.function_name("pack")
    @app.queue_trigger(arg_name="box", queue_name="boxes", connection="AzureWebJobsStorage")
    def pack(box: func.QueueMessage):
        raise ValueError("no box")

    with redeliver.start(app=app) as host:
        host.send("boxes", "1")
        host.poisoned("pack")
        assert host.deliveries("pack") == [1] * 5
        host.expect(queues={"boxes-poison": ["1"]})


def test_real_time_takes_no_virtual_time():
    def slow(box):
        time.sleep(0.05)

    with redeliver.start(functions=pack(slow)) as host:
        before = host.clock.now()
        host.send("boxes", "1")
        host.settled()
        assert host.clock.now() == before


def test_journals_are_equal(monkeypatch):
    def journal(nap):
        def unavailable(order):
            time.sleep(nap)
            raise RuntimeError("carrier unavailable")

        monkeypatch.setattr(function_app.carrier, "book", unavailable)
        with redeliver.start(app=function_app.app, seed=7) as host:
            host.send_service_bus("parcels", {"id": 7}, message_id="m7")
            host.dead_lettered("parcels")
            return host.journal()

    assert journal(0) == journal(0.001) == journal(0.002)


def test_two_hosts_have_nothing_in_common():
    with redeliver.start(functions=pack(lambda: None)) as one, redeliver.start(functions=pack("fail")) as other:
        one.send("boxes", "1")
        assert one.settled()["decision"] == "deleted"
        assert other.journal({"kind": "settled"}) == []
        other.send("boxes", "1")
        other.poisoned()


def test_a_handler_may_send():
    def handler(box, host=None):
        if box.get_body() == b"1":
            hosts[0].send("boxes", "2")

    hosts = []
    with redeliver.start(functions=pack(lambda box: handler(box))) as host:
        hosts.append(host)
        host.send("boxes", "1")
        host.settled()
        host.settled()


def test_what_ends_a_test_ends_the_call():
    def handler():
        raise KeyboardInterrupt

    with redeliver.start(functions=pack(handler)) as host:
        with pytest.raises(KeyboardInterrupt):
            host.send("boxes", "1")


def test_a_handler_that_hangs_is_named():
    def handler():
        while True:
            time.sleep(0.01)

    with redeliver.start(functions=pack(handler), timeout=4) as host:
        with pytest.raises(redeliver.KitTimeout, match=r"has run for 4 s"):
            host.send("boxes", "1")


def test_a_debugger_has_no_limit(monkeypatch):
    debugger = mock.Mock()
    debugger.is_client_connected.return_value = True
    monkeypatch.setitem(__import__("sys").modules, "debugpy", debugger)
    with redeliver.start(functions=pack(lambda: time.sleep(1.5)), timeout=0.5) as host:
        before = host.clock.now()
        host.send("boxes", "1")
        assert host.settled()["decision"] == "deleted"
        assert host.clock.now() == before


def test_the_same_to_await():
    together = []

    async def handler(box):
        together.append(len(together))
        await asyncio.sleep(0.01)

    async def test():
        async with aio.start(functions=pack(handler)) as host:
            await host.send("boxes", {"id": 7})
            assert (await host.settled("Pack"))["decision"] == "deleted"
            assert await host.deliveries("Pack") == [1]
        async with aio.start(functions=pack(lambda: 1 / 0)) as host:
            await host.send("boxes", {"id": 7})
            await host.poisoned()
            [message] = await host.queue("boxes-poison")
            assert message.json() == {"id": 7}

    asyncio.run(test())
    assert together == [0]
