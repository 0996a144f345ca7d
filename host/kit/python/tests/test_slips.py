"""Slips with which a test would pass whatever happens."""

import asyncio
import os
from datetime import timedelta

import pytest

import redeliver_testing as redeliver
from redeliver_testing import Failure, KitError, aio

QUEUE = {"type": "queueTrigger", "queueName": "boxes"}
PACK = {"Pack": {"trigger": QUEUE, "handler": "fail"}}
ASK = {"Ask": {"trigger": {"type": "httpTrigger", "authLevel": "anonymous"}, "handler": lambda req: "yes"}}


@pytest.mark.parametrize("call, says", [
    (lambda host: host.journal({"kidn": "settled"}), 'did you mean "kind"'),
    (lambda host: host.journal({"kind": "setled"}), 'did you mean "settled"'),
    (lambda host: host.journal({"function": "Pak"}), 'did you mean "Pack"'),
    (lambda host: host.journal({}), "any record would match"),
    (lambda host: host.logs("Pak"), 'did you mean "Pack"'),
    (lambda host: host.journal(None), "has to be a dict of members, and is None"),
    (lambda host: host.journal({"kind": "settled", "function": None}), "pattern.function is null"),
    (lambda host: host.until({"kind": "settled", "function": None}), "until.function is null"),
    (lambda host: host.until(None), "has to be a dict of members"),
    (lambda host: host.logs(""), "function has to be a name, and is ''"),
    (lambda host: host.logs(None), "function has to be a name, and is None"),
    (lambda host: host.attempts(""), "function has to be a name"),
    (lambda host: host.attempts(None), "function is None: leave it out for all"),
    (lambda host: host.deliveries(""), "function has to be a name"),
    (lambda host: host.deliveries(None), "function has to be a name"),
    (lambda host: host.settled(""), "function has to be a name"),
    (lambda host: host.settled(None), "function is None"),
    (lambda host: host.dead_lettered(""), "path has to be a name"),
    (lambda host: host.dead_lettered(None), "path is None"),
    (lambda host: host.explain(None), "message is None"),
    (lambda host: host.expect(), "it expects nothing"),
    (lambda host: host.expect(functions={"Pack": {"attempts": None}}), "cannot be read as a whole number"),
    (lambda host: host.expect(functions={"Pack": {"deliveries": [float("nan")]}}), "not JSON compliant"),
    (lambda host: host.expect(functions={"Pack": {"attempt": 0}}), 'did you mean "attempts"'),
    (lambda host: host.fault(service="queue", entity=None), "entity is None"),
    (lambda host: host.fault(service="queue", operation="Put", times=0), "times has to be a whole number from 1"),
    (lambda host: host.fail_output("Pack", times=0), "times has to be a whole number from 1"),
    (lambda host: host.crash_at(None, "beforeSettle"), "function has to be a name"),
    (lambda host: host.crash_at("Pack", "beforeSettle", 0), "nth has to be a whole number from 1"),
    (lambda host: host.expire_locks(None), "path has to be a name"),
    (lambda host: host.send("", 1), "queue has to be a name"),
    (lambda host: host.send("boxes", None), "the body is None"),
    (lambda host: host.send("boxes", float("nan")), "not JSON compliant"),
    (lambda host: host.upload("labels/7", None), "the body is None"),
    (lambda host: host.load(None), "the body is None"),
    (lambda host: host.send_service_bus("parcels", 1, properties={"kind": None}), "property kind is None"),
    (lambda host: host.clock.advance(timedelta(seconds=-1)), "below zero"),
    (lambda host: host.clock.advance(30), "a time span is a timedelta"),
    (lambda host: redeliver.seeds(0), "count has to be a whole number from 1"),
    (lambda host: redeliver.start(functions=PACK, seed=True), "seed has to be a whole number from 0"),
    (lambda host: redeliver.start(functions=PACK, timeout=float("nan")), "the timeout is nan"),
    (lambda host: redeliver.start(functions=PACK, timeout=-1), "the timeout is -1"),
    (lambda host: redeliver.start(app="", functions=PACK), "app is empty"),
    (lambda host: redeliver.start(functions={"Pack": {"trigger": QUEUE, "handler": None}}), "handler"),
    (lambda host: redeliver.start(functions=PACK, settings={"MODE": None}), "settings.MODE is null"),
    (lambda host: host.dead_lettered("parcls"), "there is no Service Bus entity"),
    (lambda host: host.start_again(), "no crash was asked for"),
    (lambda host: host.send_events("hub", []), "nothing would be sent"),
    (lambda host: host.send_events("hub", "abc"), "are a list"),
    (lambda host: host.send_events("hub", {"id": 7}), "are a list"),
    (lambda host: host.publish("topic", []), "nothing would be sent"),
    (lambda host: host.write("shop/orders", ()), "nothing would be sent"),
    (lambda host: host.request("GET", "api/orders"), "begin with a slash"),
])
def test_a_call_that_proves_nothing_is_refused(call, says):
    with redeliver.start(functions=PACK) as host:
        with pytest.raises((KitError, Failure, TypeError, ValueError), match=says):
            call(host)


@pytest.mark.parametrize("call", [
    lambda host: host.request("GET", "/api/Ask"), lambda host: host.journal(), lambda host: host.logs(), lambda host: host.attempts(),
    lambda host: host.expect(nothing_else=True), lambda host: host.queue("boxes"), lambda host: host.clock.now(), lambda host: host.idle(),
])
def test_a_host_that_has_ended_answers_nothing(call):
    with redeliver.start(functions=ASK) as host:
        assert host.request("GET", "/api/Ask").text() == "yes"
        assert host.request("GET", "/api/nothing").status == 404
    with pytest.raises(KitError, match="it has ended, or never was"):
        call(host)


def test_a_crashed_host_has_no_answer_of_a_function():
    with redeliver.start(functions=ASK) as host:
        host.crash()
        with pytest.raises(KitError, match="has crashed"):
            host.request("GET", "/api/Ask")


def test_idle_is_not_a_policy_without_an_end():
    retry = {"strategy": "fixedDelay", "maxRetryCount": -1, "delayInterval": "01:00:00"}
    with redeliver.start(functions={"Pack": {**PACK["Pack"], "retry": retry}}) as host:
        host.send("boxes", 1)
        with pytest.raises(Failure, match="something is still left to happen"):
            host.idle()


def test_all_messages_are_shown():
    bus = {"Ship": {"trigger": {"type": "serviceBusTrigger", "queueName": "parcels"}, "handler": "fail"}}
    with redeliver.start(functions={**PACK, **bus}) as host:
        for n in range(40):
            host.send("others", n)
        host._session.verb("POST", "step", {"step": {"send": {"serviceBus": "parcels", "bodies": list(range(300)), "delay": "1h"}}})
        assert (len(host.queue("others")), len(host.service_bus("parcels"))) == (40, 300)


def test_journal_and_logs_are_of_all_runs():
    def handler(box):
        import logging
        logging.info("packed")

    with redeliver.start(functions={"Pack": {"trigger": QUEUE, "handler": handler}}) as host:
        host.send("boxes", 1)
        host.restart()
        assert host.logs("Pack") == ["information: packed"]
        assert len(host.journal({"kind": "attempt_ended", "function": "Pack"})) == len(host.attempts("Pack")) == 1


def test_settings_are_those_of_the_host_that_runs(monkeypatch):
    seen = []
    functions = {"Pack": {"trigger": QUEUE, "handler": lambda box: seen.append(os.environ.get("MODE"))}}
    monkeypatch.setenv("MODE", "mine")
    with redeliver.start(functions=functions, settings={"MODE": "a"}) as host:
        with redeliver.start(functions=functions, settings={"MODE": "a"}):
            pass
        host.send("boxes", 1)
        with pytest.raises(KitError, match="another host of this process"):
            redeliver.start(functions=functions, settings={"MODE": "b"})
        host.send("boxes", 1)
    assert (seen, os.environ["MODE"]) == (["a", "a"], "mine")


def test_a_call_without_await_fails_the_end():
    async def forgetful():
        async with aio.start(functions=PACK) as host:
            host.expect(functions={"Pack": {"deliveries": [1]}}).close()
            host.clock.advance("1m").close()

    with pytest.raises(Failure, match="called, and not awaited: advance, expect"):
        asyncio.run(forgetful())

    async def careful():
        async with aio.start(functions=PACK) as host:
            await host.send("boxes", 1)
            await asyncio.gather(host.attempts(), host.clock.now())
            await asyncio.create_task(host.poisoned("Pack"))

    asyncio.run(careful())


def test_a_host_that_was_never_entered():
    async def early():
        await aio.start(functions=PACK).send("boxes", 1)

    with pytest.raises(KitError, match="the host has not begun"):
        asyncio.run(early())


def test_a_host_that_a_test_leaves_ends_with_it(pytester):
    pytester.makepyfile("""
        import pytest, redeliver_testing as redeliver
        PACK = {"Pack": {"trigger": {"type": "queueTrigger", "queueName": "boxes"}, "handler": "fail"}}

        @pytest.fixture(scope="module")
        def shared():
            with redeliver.start(functions=PACK) as host:
                yield host

        def test_leaves_a_fault(shared):
            redeliver.start(functions=PACK).fault(service="queue", entity="boxes", operation="Delete", times=1)

        def test_leaves_nothing_to_come(shared):
            redeliver.start(functions=PACK).send("boxes", 1)
            shared.idle()
    """)
    pytester.makeconftest("pytest_plugins = ['redeliver_testing.plugin']")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*nothing has met the fault of Delete queue boxes*"])
