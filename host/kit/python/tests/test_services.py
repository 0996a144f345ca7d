"""Every call of a host, on the services that it is about."""

from datetime import datetime, timedelta, timezone

import pytest

import redeliver_testing as redeliver
from redeliver_testing import Failure, KitError

BOXES = {"trigger": {"type": "queueTrigger", "queueName": "boxes"}, "handler": "succeed"}


def scripted(**trigger):
    return {"Pack": {"trigger": trigger, "handler": "succeed"}}


def test_the_clock_moves_when_it_is_told_to():
    with redeliver.start(functions={"Pack": BOXES}, start=datetime(2031, 5, 1, tzinfo=timezone.utc)) as host:
        begin = host.clock.now()
        assert begin == datetime(2031, 5, 1, tzinfo=timezone.utc)
        assert host.clock.advance("30s") == begin + timedelta(seconds=30)
        assert host.clock.advance(timedelta(minutes=1)) == begin + timedelta(seconds=90)
        assert host.clock.jump("1h") == begin + timedelta(seconds=3690)
        host.clock.next()
        assert host.idle() >= begin + timedelta(seconds=3690)
        with pytest.raises(TypeError, match="a time span"):
            host.clock.advance(30)  # seconds, or milliseconds?


def test_queues():
    with redeliver.start(functions={"Pack": {**BOXES, "handler": [{"do": "fail", "times": 1}, "succeed"]}}) as host:
        sent = host.send("boxes", {"id": 7})
        assert host.until({"kind": "attempt_ended"})["status"] == "failed"
        record = host.completed("Pack")
        assert isinstance(record, redeliver.Record)
        assert (record.kind, record["message_id"], record.seq > 0) == ("settled", sent, True)
        assert record.time == host.clock.now()
        assert [a.status for a in host.attempts()] == ["failed", "succeeded"]
        assert host.send("later", b"\x00\xff", visibility="5m") != sent
        assert host.queue("later") == []
        host.clock.advance("5m")
        [message] = host.queue("later")
        assert (message.body, message.delivery_count) == (b"\x00\xff", 0)


def test_a_failed_attempt_says_why():
    policy = {"strategy": "fixedDelay", "maxRetryCount": 1, "delayInterval": "00:01:30"}
    with redeliver.start(functions={"Pack": {**BOXES, "handler": {"do": "fail", "error": "no box"}, "retry": policy}}) as host:
        host.send("boxes", "1")
        host.poisoned()
        first = host.attempts("Pack")[0]
        assert isinstance(first, redeliver.Attempt) and isinstance(first.error, redeliver.Problem)
        assert (first.function, first.attempt, first.retry_count, first.max_retry_count, first.decision) == ("Pack", 1, 0, 1, "retry")
        assert (first.next_delay, "no box" in first.error.message) == (timedelta(seconds=90), True)
        assert first.ended == first.started and first.took >= timedelta(0)
        [message] = host.queue("boxes-poison")
        assert "no box" in message.last_error
        assert "no box" in host.explain()


def test_service_bus():
    with redeliver.start(functions=scripted(type="serviceBusTrigger", topicName="orders", subscriptionName="all")) as host:
        sent = host.send_service_bus("orders", "1", message_id="m1", subject="new", properties={"priority": "high"})
        assert sent == "m1"
        assert host.settled("Pack")["decision"] == "completed"
        assert host.service_bus("orders/all") == host.service_bus("orders/all/$DeadLetterQueue") == []


def test_the_locks_of_an_entity_end():
    pack = {"trigger": {"type": "serviceBusTrigger", "queueName": "parcels"}, "handler": [{"do": "succeed", "take": "30s", "times": 1}, "succeed"]}
    with redeliver.start(functions={"Pack": pack}) as host:
        host.send_service_bus("parcels", "1")
        host.expire_locks("parcels")
        host.until({"kind": "lock_expired"})
        host.completed("Pack")
        assert host.deliveries("Pack") == [1, 1]


def test_event_grid_and_event_hubs():
    functions = {"Pack": {"trigger": {"type": "eventHubTrigger", "eventHubName": "telemetry"}, "handler": "succeed"}}
    with redeliver.start(functions=functions) as host:
        host.send_events("telemetry", [{"n": 1}, {"n": 2}], key="a")
        assert host.checkpointed("Pack")
    settings = {"redeliver": {"eventGrid": {"topics": [{"name": "orders", "subscriptions": [{"name": "pack", "function": "Pack"}]}]}}}
    with redeliver.start(functions=scripted(type="eventGridTrigger"), host=settings) as host:
        event = {"id": "e1", "eventType": "Order", "subject": "orders/7", "eventTime": "2030-01-01T00:00:00Z", "data": {}, "dataVersion": "1"}
        assert host.publish("orders", [event]) == ["e1"]
        host.settled("Pack")


def test_blobs_and_documents():
    with redeliver.start(functions=scripted(type="blobTrigger", path="labels/{name}")) as host:
        host.upload("labels/7.txt", "label", content_type="text/plain")
        host.settled("Pack")
        assert host.blob("labels/7.txt") == b"label"
        with pytest.raises(KitError):
            host.blob("labels/8.txt")
    trigger = {"type": "cosmosDBTrigger", "databaseName": "shop", "containerName": "orders", "createLeaseContainerIfNotExists": True, "startFromBeginning": True}
    with redeliver.start(functions=scripted(**trigger)) as host:
        assert host.write("shop/orders", {"id": "7"}) == ["7"]
        host.settled("Pack")
        assert [d["id"] for d in host.documents("shop/orders")] == ["7"]


def test_requests_and_calls():
    with redeliver.start(functions=scripted(type="httpTrigger", route="orders/{id}", methods=["post"], authLevel="anonymous")) as host:
        answer = host.request("POST", "/api/orders/7", {"id": 7}, headers={"X-Own": "1"})
        assert isinstance(answer, redeliver.Response) and answer.status in (200, 204)
        assert host.request("POST", "/api/nothing").status == 404
    with redeliver.start(functions={"Pack": BOXES}) as host:
        assert host.call("Pack", "1")["succeeded"] is True
        with pytest.raises(KitError, match="Pack"):
            host.call("Pakc", "1")


def test_what_fails_on_demand():
    copy = {**BOXES, "bindings": [{"type": "queue", "direction": "out", "name": "copy", "queueName": "copies"}], "handler": {"outputs": {"copy": "1"}}}
    with redeliver.start(functions={"Pack": copy}) as host:
        host.fail_output("Pack", times=1)
        host.send("boxes", "1")
        host.completed("Pack")
        assert [a.status for a in host.attempts("Pack")] == ["failed", "succeeded"]
        [message] = host.queue("copies")
        assert message.text() == "1"
        host.fault(service="queue", entity="boxes", operation="Delete", times=1)
        host.send("boxes", "2")
        host.settled("Pack")


def test_outputs_that_are_recorded():
    notice = {"type": "signalR", "direction": "out", "name": "notice", "hubName": "orders"}
    with redeliver.start(functions={"Pack": {**BOXES, "bindings": [notice], "handler": {"outputs": {"notice": {"target": "packed"}}}}}) as host:
        host.send("boxes", "1")
        host.settled()
        [output] = host.outputs("Pack")
        assert "packed" in output["body"]


def test_a_host_ends_and_begins_again():
    with redeliver.start(functions={"Pack": BOXES}) as host:
        host.send("boxes", "1", visibility="1m")
        host.crash()
        with pytest.raises(KitError) as refused:
            host.settled()
        assert refused.value.code == "host_down" and "start" in refused.value.hint
        host.start_again()
        host.completed("Pack")
        host.restart()
        host.send("boxes", "2")
        host.completed("Pack")


def test_instances_share_the_work():
    with redeliver.start(functions={"Pack": BOXES}, instances=True) as host:
        host.scale_out()
        host.send("boxes", "1")
        host.settled()


def test_state_is_kept_and_dropped():
    with redeliver.start(functions={"Other": {"trigger": {"type": "queueTrigger", "queueName": "others"}, "handler": "succeed"}}) as host:
        host.send("kept", "1")
        state = host.save()
        begin = host.clock.now()
        host.clock.advance("1h")
        host.reset()
        assert host.clock.now() == begin
        host.load(state)
        assert [m.text() for m in host.queue("kept")] == ["1"]
        assert host.seed == 1


def test_what_cannot_come_fails_at_once():
    with redeliver.start(functions={"Pack": BOXES}) as host:
        host.send("boxes", "1")
        with pytest.raises(Failure, match="a poisoned message of Pack has not come") as missed:
            host.poisoned("Pack")
        assert "seed 1; again with REDELIVER_SEED=1" in str(missed.value)
        with pytest.raises(Failure, match="a dead-lettered message"):
            host.dead_lettered()
        with pytest.raises(KitError):
            host.until({"knd": "settled"})


def test_places_need_ports():
    with redeliver.start(functions={"Pack": BOXES}) as host:
        with pytest.raises(KitError, match="ports=True"):
            host.connection_string("servicebus")
    with redeliver.start(functions={"Pack": BOXES}, ports=True) as host:
        assert host.connection_string("storage").startswith("DefaultEndpointsProtocol=http;")
        assert "127.0.0.1" in host.connection_string("eventhubs")
        with pytest.raises(KitError, match="want one of storage"):
            host.connection_string("cosmos")


def test_seeds():
    assert redeliver.seeds(3) == [1, 2, 3]


@pytest.mark.redeliver(functions={"Pack": BOXES}, seed=3, settings={"A": "b"}, set={"workerCrash": "stop"})
def test_the_fixture_has_the_options_of_its_marker(redeliver_host, redeliver_kit):
    assert isinstance(redeliver_host, redeliver.Host) and isinstance(redeliver_kit, redeliver.Kit)
    assert redeliver_host.seed == 3
    redeliver_host.send("boxes", "1")
    assert redeliver_host.settled("Pack")["decision"] == "deleted"
