"""The conversation with the host."""

import argparse
import asyncio
import concurrent.futures
import contextvars
import json
import os
import re
import sys
import threading
from urllib.parse import urlsplit

from . import answers, failure, logs
from .app import App
from .link import Link

HEAD = 1 << 16  # how much is looked at of a message that cannot be taken


def run(arguments):
    """Serves the host that the arguments name, until it says that it is enough."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    host, port, worker, request, most = options(arguments)
    asyncio.run(Worker(Link(host, port, request, most), worker).serve())


def options(arguments):
    """Where the host is, and who this is: either group of arguments says it."""
    parser = argparse.ArgumentParser(prog="worker.py", description="Runs the functions of a Python app. The host starts it.")
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    parser.add_argument("--workerId", "--functions-worker-id", dest="worker", default="")
    parser.add_argument("--requestId", "--functions-request-id", dest="request", default="")
    parser.add_argument("--grpcMaxMessageLength", "--functions-grpc-max-message-length", dest="most", type=int, default=0)
    parser.add_argument("--functions-uri", dest="uri", default="")
    given, _ = parser.parse_known_args(arguments)
    uri = urlsplit(given.uri)
    host, port = given.host or uri.hostname, given.port or uri.port
    if not host or not port:
        parser.error("the host starts this program, with --host and --port")
    return host, port, given.worker, given.request, given.most


class ContextPool(concurrent.futures.ThreadPoolExecutor):
    """Threads for what an async function hands to one: they know its invocation."""

    def submit(self, fn, /, *args, **kwargs):
        return super().submit(contextvars.copy_context().run, fn, *args, **kwargs)


def threads():
    """How many sync functions run at once."""
    text = os.environ.get("PYTHON_THREADPOOL_THREAD_COUNT", "").strip()
    return int(text) if re.fullmatch(r"0*[1-9]\d{0,5}", text) else None


class Worker:
    def __init__(self, link, identity):
        self._link, self._identity = link, identity
        self._app = App(self._say)
        self._pool = concurrent.futures.ThreadPoolExecutor(threads(), "function")
        self._loop = self._over = None
        # Answered where they are read, whatever the app does meanwhile.
        self._at_once = {"invocationRequest": self._invoke, "workerStatusRequest": self._status}
        # User code runs in these: in the main thread, one after the other.
        self._in_turn = {
            "workerInitRequest": self._init, "functionsMetadataRequest": self._metadata,
            "functionLoadRequest": self._load, "workerTerminate": self._terminate,
        }

    async def serve(self):
        self._loop = asyncio.get_running_loop()
        self._loop.set_default_executor(ContextPool(thread_name_prefix="asyncio"))
        self._over = asyncio.Event()
        logs.install(self._link)
        self._link.send("startStream", {"workerId": self._identity})
        threading.Thread(target=self._listen, name="host", daemon=True).start()
        await self._over.wait()

    def _say(self, level, text):
        self._link.send("rpcLog", {"category": "redeliver_worker", "level": level, "message": text, "logCategory": "System"})

    def _listen(self):
        """Takes the host's messages. Without a host there is nothing to live for, and a
        function may block everything else."""
        try:
            for line in self._link.lines():
                try:
                    self._take(line)
                except Exception as error:
                    self._refuse(line[:HEAD], error)
        finally:
            os._exit(0)

    def _refuse(self, head, error):
        """Answers a call that came in a line which cannot be taken, for want of memory say."""
        request, call = (re.search(rb'"%s":\s*"([^"]*)"' % name, head) for name in (b"requestId", b"invocationId"))
        if call is None:
            self._say("Warning", f"a message of the host cannot be taken: {type(error).__name__}: {error}")
            return
        answer = {"invocationId": call[1].decode(), "result": failure.status(error)}
        self._link.send("invocationResponse", answer, request[1].decode() if request else "")

    def _take(self, line):
        message = json.loads(line)
        request = str(message.get("requestId") or "")
        for kind, body in message.items():
            if kind in self._at_once:
                self._at_once[kind](request, body or {})
            elif kind in self._in_turn:
                asyncio.run_coroutine_threadsafe(self._turn(kind, request, body or {}), self._loop)

    async def _turn(self, kind, request, body):
        try:
            self._in_turn[kind](request, body)
        except Exception as error:
            self._say("Warning", f"the message {kind} cannot be answered: {type(error).__name__}: {error}")

    def _init(self, request, body):
        self._app.at(body.get("functionAppDirectory"))
        self._link.send("workerInitResponse", answers.initialized(), request)

    def _metadata(self, request, body):
        def read():
            self._app.at(body.get("functionAppDirectory"))
            return self._app.declared()

        self._link.send("functionMetadataResponse", answers.declared(read), request)

    def _load(self, request, body):
        self._link.send("functionLoadResponse", answers.loaded(self._app, body), request)

    def _status(self, request, body):
        self._link.send("workerStatusResponse", {}, request)

    def _terminate(self, request, body):
        """Ends the process, with what the app does at its exit, in the time that the host
        gives."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?)s", str(body.get("gracePeriod")))
        limit = threading.Timer(float(match[1]) if match else 5, os._exit, (0,))
        limit.daemon = True
        limit.start()
        self._over.set()

    def _invoke(self, request, body):
        function = self._app.functions.get(str(body.get("functionId") or ""))
        if function is None:
            self._answer(request, body, answers.unknown(body))
        elif function.is_async:
            asyncio.run_coroutine_threadsafe(self._call_async(request, body, function), self._loop)
        else:
            self._pool.submit(contextvars.copy_context().run, self._call, request, body, function)

    def _call(self, request, body, function):
        logs.invocation.set(str(body.get("invocationId") or ""))
        self._answer(request, body, answers.called(function, body, self._failed))

    async def _call_async(self, request, body, function):
        logs.invocation.set(str(body.get("invocationId") or ""))
        self._answer(request, body, await answers.called_async(function, body, self._failed))

    def _failed(self, error):
        """The answer of a failed attempt. sys.exit ends the process, as on the platform."""
        if isinstance(error, SystemExit):
            leave(error)
        return {"result": failure.status(error)}

    def _answer(self, request, body, answer):
        flush()
        answers.send(self._link, request, body, answer)


def leave(error):
    """Ends the process as sys.exit does. What it was given may have no text, and standard
    error may be closed."""
    flush()
    code = 1
    try:
        if error.code is None or isinstance(error.code, int):
            code = (error.code or 0) & 0xFF
        else:
            print(error.code, file=sys.stderr, flush=True)
    finally:
        os._exit(code)


def flush():
    """Brings what a function has printed to the host before the answer. The streams may be
    the app's own, or gone."""
    for name in ("stdout", "stderr"):
        try:
            getattr(sys, name).flush()
        except BaseException:
            pass
