"""The functions of the suite, declared in code."""

import asyncio
import logging
import os
import sys
import time

import azure.functions as func

app = func.FunctionApp()


def on(name):
    """Declares a queue function of that name, with an output when it has a parameter for it."""

    def declare(f):
        out = app.queue_output(arg_name="out", queue_name="done", connection="AzureWebJobsStorage")
        trigger = app.queue_trigger(arg_name="item", queue_name=name.lower(), connection="AzureWebJobsStorage")
        builder = out(f) if "out" in f.__annotations__ else f
        return app.function_name(name=name)(trigger(builder))

    return declare


@on("Nothing")
def nothing(item: func.QueueMessage) -> None:
    pass


@app.function_name(name="Echo")
@app.generic_trigger(arg_name="item", type="manualTrigger")
@app.queue_output(arg_name="out", queue_name="done", connection="AzureWebJobsStorage")
def echo(item, out: func.Out[bytes]) -> None:
    out.set(item)


@on("Seen")
def seen(item: func.QueueMessage, out: func.Out[str], context: func.Context) -> None:
    retry = context.retry_context
    text = f"{context.invocation_id} {context.function_name} {item.id} {context.trace_context.Traceparent}"
    text += f" retry {retry.retry_count}/{retry.max_retry_count}"
    if retry.rpc_exception is not None and retry.rpc_exception.message:
        text += f" after {retry.rpc_exception.message}"
    out.set(text)


@on("Fail")
def fail(item: func.QueueMessage, out: func.Out[str]) -> None:
    out.set("lost")
    raise LookupError(item.get_body().decode())


@on("Log")
async def log(item: func.QueueMessage) -> None:
    for i in range(int(item.get_body())):
        (logging.info, logging.warning, logging.error)[i % 3]("line %d", i)


@on("Odd")
def odd(item: func.QueueMessage, out: func.Out[str]) -> None:
    out.set(object())


@on("Noise")
def noise(item: func.QueueMessage) -> None:
    for _ in range(int(item.get_body())):
        os.write(1, bytes([0, 255, 123, 10]))
        os.write(2, b"noise " * 20 + b"\n")
    sys.stdout.write("x" * (200 << 10) + "\n")
    sys.stdout.flush()


@on("Exit")
def exit_(item: func.QueueMessage) -> None:
    os._exit(int(item.get_body()))


@on("Fatal")
def fatal(item: func.QueueMessage) -> None:
    os.abort()


@on("Wait")
async def wait(item: func.QueueMessage) -> None:
    await asyncio.Event().wait()


@on("Hang")
def hang(item: func.QueueMessage) -> None:
    time.sleep(100000)
