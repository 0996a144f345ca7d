import pytest
import function_app, redeliver_testing as redeliver

@pytest.fixture
def host(monkeypatch):
    def unavailable(order):
        raise RuntimeError("carrier unavailable")
    monkeypatch.setattr(function_app.carrier, "book", unavailable)
    with redeliver.start(app=function_app.app) as host:
        yield host

def test_fifty_attempts_then_the_dead_letter_queue(host):
    host.send_service_bus("parcels", {"id": 7}, message_id="m7")
    host.dead_lettered("parcels")
    assert host.deliveries("ship") == [5] * 10
    last = host.attempts("ship")[-1]
    assert (last.delivery, last.attempt, last.retry_count, last.decision) == (10, 5, 4, "exhausted")
    [dead] = host.service_bus("parcels/$DeadLetterQueue")
    assert (dead.id, dead.reason) == ("m7", "MaxDeliveryCountExceeded")

def test_a_queue_message_is_poison_after_five_deliveries():
    pack = {"trigger": {"type": "queueTrigger", "queueName": "parcels"}, "handler": "fail"}
    with redeliver.start(functions={"Pack": pack}) as host:
        host.send("parcels", {"id": 7})
        host.poisoned("Pack")
        host.expect(functions={"Pack": {"deliveries": [1, 1, 1, 1, 1]}}, queues={"parcels-poison": [{"id": 7}]})

def test_a_crash_between_attempts_begins_the_count_anew():
    pack = {"trigger": {"type": "queueTrigger", "queueName": "parcels"}, "handler": "fail",
            "retry": {"strategy": "fixedDelay", "maxRetryCount": 4, "delayInterval": "00:00:30"}}
    with redeliver.start(functions={"Pack": pack}) as host:
        host.crash_at("Pack", "betweenAttempts", nth=3)
        host.send("parcels", {"id": 7})
        host.start_again()
        host.poisoned("Pack")
        assert host.deliveries("Pack") == [3, 5, 5, 5, 5]
