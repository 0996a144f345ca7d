"""The functions of the suite, each with a function.json that names its entry point."""

import asyncio
import logging
import os
import sys
import time

import azure.functions as func


def nothing(item: func.QueueMessage) -> None:
    pass


def echo(item, out: func.Out[bytes]) -> None:
    out.set(item)


def seen(item: func.QueueMessage, out: func.Out[str], context: func.Context) -> None:
    retry = context.retry_context
    text = f"{context.invocation_id} {context.function_name} {item.id} {context.trace_context.Traceparent}"
    text += f" retry {retry.retry_count}/{retry.max_retry_count}"
    if retry.rpc_exception is not None and retry.rpc_exception.message:
        text += f" after {retry.rpc_exception.message}"
    out.set(text)


def fail(item: func.QueueMessage, out: func.Out[str]) -> None:
    out.set("lost")
    raise LookupError(item.get_body().decode())


async def log(item: func.QueueMessage) -> None:
    for i in range(int(item.get_body())):
        (logging.info, logging.warning, logging.error)[i % 3]("line %d", i)


def odd(item: func.QueueMessage, out: func.Out[str]) -> object:
    out.set(object())
    return lambda: None


def noise(item: func.QueueMessage) -> None:
    for _ in range(int(item.get_body())):
        os.write(1, bytes([0, 255, 123, 10]))
        os.write(2, b"noise " * 20 + b"\n")
    sys.stdout.write("x" * (200 << 10) + "\n")
    sys.stdout.flush()


def exit(item: func.QueueMessage) -> None:
    os._exit(int(item.get_body()))


def fatal(item: func.QueueMessage) -> None:
    os.abort()


async def wait(item: func.QueueMessage) -> None:
    await asyncio.Event().wait()


def hang(item: func.QueueMessage) -> None:
    time.sleep(100000)
