import asyncio
import logging
import os
import sys
import threading
import time

import azure.functions as func

from more import more

app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)
app.register_functions(more)

log = logging.getLogger("shop.orders")
log.setLevel(logging.DEBUG)


@app.route(route="orders/{id}", methods=["POST"])
@app.queue_output(arg_name="out", queue_name="orders", connection="AzureWebJobsStorage")
def place_order(req: func.HttpRequest, out: func.Out[str]) -> func.HttpResponse:
    out.set(req.get_body().decode())
    return func.HttpResponse(f"order {req.route_params['id']}", status_code=202)


@app.function_name(name="ProcessOrder")
@app.queue_trigger(arg_name="msg", queue_name="orders", connection="AzureWebJobsStorage")
@app.retry(strategy="fixed_delay", max_retry_count="4", delay_interval="00:00:10")
def process(msg: func.QueueMessage, context: func.Context) -> None:
    raise RuntimeError(f"attempt {context.retry_context.retry_count + 1}")


@app.timer_trigger(arg_name="timer", schedule="0 */5 * * * *")
@app.retry(strategy="exponential_backoff", max_retry_count="-1", minimum_interval="00:00:10", maximum_interval="00:15:00")
async def tick(timer: func.TimerRequest) -> None:
    await asyncio.sleep(0)


def queue(name):
    return app.queue_trigger(arg_name="msg", queue_name=name, connection="AzureWebJobsStorage")


@queue("logs")
def write_logs(msg: str, context: func.Context) -> None:
    log.debug("debug")
    log.info("info %s", 1)
    log.warning("warning")
    logging.error("error")
    log.critical("critical")
    log.log(7, "below")
    try:
        raise KeyError("k")
    except KeyError:
        log.exception("caught")
    print("printed by", context.function_name)

    def own():
        context.thread_local_storage.invocation_id = context.invocation_id
        log.info("from a thread that says whose it is")

    for target in (own, lambda: log.info("from a thread")):
        thread = threading.Thread(target=target)
        thread.start()
        thread.join()


@queue("asynclogs")
async def write_logs_async(msg: str) -> None:
    log.info("async")
    await asyncio.gather(asyncio.create_task(later()), asyncio.get_running_loop().run_in_executor(None, log.info, "executor"))


async def later():
    await asyncio.sleep(0)
    log.info("task")


@queue("binary")
def binary(msg: str) -> None:
    sys.stdout.buffer.write(b"\x00\xff\xfe binary\n")


@queue("exit")
def leave(msg: str) -> None:
    os._exit(7)


@queue("quit")
def quit_politely(msg: str) -> None:
    print("bye")
    sys.exit(3)


meeting = threading.Barrier(8)


@queue("meet")
def meet(msg: str) -> None:
    meeting.wait(20)


gate = asyncio.Event()


@queue("wait")
async def wait(msg: str) -> None:
    await gate.wait()


@queue("open")
async def open_gate(msg: str) -> None:
    gate.set()


@queue("block")
def block(msg: str) -> None:
    log.info("blocked")
    time.sleep(3600)


@queue("blockloop")
async def block_loop(msg: str) -> None:
    log.info("blocked")
    time.sleep(3600)


@queue("fork")
def fork(msg: str) -> None:
    child = os.fork()
    if child == 0:
        log.info("from a child")
        os._exit(0)
    os.waitpid(child, 0)
