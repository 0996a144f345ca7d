# Orchestrators for the rows of the tests; see rows_test.go.
import json
import os
import time
from datetime import timedelta

import azure.durable_functions as df
import azure.functions as func

app = df.DFApp(http_auth_level=func.AuthLevel.ANONYMOUS)


def orchestrator(f):
    return app.orchestration_trigger(context_name="context", orchestration=f.__name__)(f)


def activity(f):
    return app.activity_trigger(input_name="value", activity=f.__name__)(f)


def first_line(error):
    return str(error).split("\n")[0].strip()


@orchestrator
def Chain(context):
    names = []
    for city in ["Tokyo", "Seattle", "London"]:
        names.append((yield context.call_activity("Hello", city)))
    return names


@orchestrator
def FanOut(context):
    tasks = [context.call_activity("Double", i) for i in range(int(context.get_input()))]
    return sum((yield context.task_all(tasks)))


@orchestrator
def RetryOut(context):
    return (yield context.call_activity_with_retry("Fail", df.RetryOptions(60000, 3), "no stock"))


@orchestrator
def RetryCaught(context):
    try:
        yield context.call_activity_with_retry("Fail", df.RetryOptions(60000, 3), "no stock")
    except Exception as e:
        return "caught " + first_line(e)


@orchestrator
def RetryPair(context):
    try:
        yield context.call_activity_with_retry("Fail", df.RetryOptions(60000, 2), "no stock")
    except Exception:
        return "gave up"


@orchestrator
def Timer(context):
    yield context.create_timer(context.current_utc_datetime + timedelta(seconds=int(context.get_input())))
    return context.current_utc_datetime.isoformat()


@orchestrator
def Race(context):
    wanted = context.get_input()
    wanted = json.loads(wanted) if isinstance(wanted, str) else wanted
    days = wanted.get("days")
    timer = context.create_timer(context.current_utc_datetime + timedelta(days=days or 3))
    event = context.wait_for_external_event("ok")
    first = yield context.task_any([timer, event])
    if first == timer:
        return "escalated"
    if wanted.get("cancel"):
        timer.cancel()
    if wanted.get("error"):
        raise Exception(wanted["error"])
    if days:
        yield context.call_activity("Hello", "x")
    return event.result


@orchestrator
def Twice(context):
    a, b = context.call_activity("Hello", "a"), context.call_activity("Hello", "b")
    yield context.task_any([a, b])
    return (yield context.task_all([a, b, context.call_activity("Hello", "c")]))


@orchestrator
def AllFails(context):
    try:
        yield context.task_all([
            context.call_activity("Fail", "x"),
            context.create_timer(context.current_utc_datetime + timedelta(hours=1)),
        ])
    except Exception:
        return (yield context.call_activity("Hello", "Undo"))


@orchestrator
def LateEvent(context):
    yield context.create_timer(context.current_utc_datetime + timedelta(hours=1))
    return (yield context.wait_for_external_event("go"))


@orchestrator
def TwoEvents(context):
    yield context.create_timer(context.current_utc_datetime + timedelta(hours=1))
    first = yield context.wait_for_external_event("go")
    second = yield context.wait_for_external_event("go")
    return [first, second]


@orchestrator
def WaitsFor(context):
    return (yield context.wait_for_external_event("go"))


@orchestrator
def Parent(context):
    return (yield context.call_sub_orchestrator("Chain"))


@orchestrator
def BadParent(context):
    return (yield context.call_sub_orchestrator_with_retry("Throws", df.RetryOptions(1000, 2)))


@orchestrator
def OwnId(context):
    return (yield context.call_sub_orchestrator("Chain", None, context.instance_id))


@orchestrator
def Year(context):
    day = int(context.get_input() or 0)
    if day == 365:
        return day
    yield context.create_timer(context.current_utc_datetime + timedelta(days=1))
    context.continue_as_new(day + 1)


@orchestrator
def Drops(context):
    if int(context.get_input() or 0) == 1:
        return "second"
    yield context.create_timer(context.current_utc_datetime + timedelta(hours=1))
    context.continue_as_new(1)


@orchestrator
def Status(context):
    context.set_custom_status("a" * int(context.get_input()))
    yield context.call_activity("Hello", "x")
    return "set"


@orchestrator
def Throws(context):
    raise Exception("boom")


@orchestrator
def Nobody(context):
    return (yield context.call_activity("Nope", 1))


@orchestrator
def Plain(context):
    return 5


@orchestrator
def Sum(context):
    return sum(context.get_input())


@orchestrator
def Hangs(context):
    try:
        yield context.call_activity("Hang")
    except Exception as e:
        return first_line(e)


@orchestrator
def Exits(context):
    try:
        yield context.call_activity("Exit")
    except Exception as e:
        return first_line(e)


@orchestrator
def Echo(context):
    back = []
    for value in [1, 1.5, "x", "1", {"i": 0}, [1, 2], False, "", None]:
        back.append((yield context.call_activity("Same", value)))
    return back


@orchestrator
def Off(context):
    try:
        yield context.call_activity("Disabled")
    except Exception as e:
        return first_line(e)


@activity
def Hello(value: str):
    return f"Hello, {value}!"


@activity
def Double(value: int):
    return 2 * value


@activity
def Same(value):
    return value


@activity
def Fail(value: str):
    raise Exception(value)


@activity
def Hang(value):
    time.sleep(60)


@activity
def Exit(value):
    os._exit(7)


@activity
def Disabled(value):
    return "never"


@app.route(route="start/{name}/{id}")
@app.durable_client_input(client_name="client")
async def Start(req: func.HttpRequest, client) -> func.HttpResponse:
    id = await client.start_new(req.route_params["name"], req.route_params["id"], req.get_body().decode() or None)
    return client.create_check_status_response(req, id)


@app.route(route="wait/{id}")
@app.durable_client_input(client_name="client")
async def Wait(req: func.HttpRequest, client) -> func.HttpResponse:
    return await client.wait_for_completion_or_create_check_status_response(req, req.route_params["id"], 10000, 1000)
