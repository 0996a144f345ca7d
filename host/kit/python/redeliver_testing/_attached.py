"""The handlers of a test, attached to its host: what the worker of the program does in a
process of its own, with the same library."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import logging
import os
import sys
import threading
import weakref
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

from ._types import Function, Handler, KitError
from ._worker import answers, failure, logs
from ._worker.app import App, retry_options
from ._worker.function import Binding
from ._worker.function import Function as Callee

DIRECTIONS = {"in": 0, "out": 1}
TRIGGER = "item"  # the name of a trigger that gives none, as in scenarios


class Described:
    """Functions that run in this process: how they are declared, and how they are called."""

    def __init__(self) -> None:
        self.app = App(lambda level, text: None)
        self.metadata: List[Dict[str, Any]] = []
        self.file: Optional[str] = None  # of the app
        self.written: Dict[str, Dict[str, Any]] = {}  # functions of the test, as a scenario has them

    def add_app(self, app: Any) -> None:
        self.file = file_of(app)
        self.app.directory = os.path.dirname(self.file) if self.file else os.getcwd()
        self.metadata += self.app.described(app.get_functions(), os.path.basename(self.file or "function_app.py"))

    def add(self, name: str, spec: Function, handler: Handler) -> None:
        """Adds a function that the test has written."""
        trigger = {"direction": "in", **spec["trigger"]}
        names, wanted = parameters(handler)
        trigger.setdefault("name", next((n for n in names if n != "context"), TRIGGER))
        bindings: List[Dict[str, Any]] = [trigger, *spec.get("bindings", ())]
        if trigger["type"].lower() == "httptrigger" and all(b.get("name") != "$return" for b in bindings):
            bindings.append({"type": "http", "direction": "out", "name": "$return"})
        if not wanted:
            handler = taking(handler, [b["name"] for b in bindings if b["name"] != "$return"], bool(names))
        library = self.app.library()
        own = {b["name"]: Binding(b["type"], b.get("direction", "in").lower() == "out") for b in bindings}
        self.app.functions[name] = Callee(name, os.getcwd(), handler, own, library.get_binding_registry())
        metadata: Dict[str, Any] = {
            "name": name, "functionId": name, "directory": os.getcwd(), "scriptFile": name + ".py", "entryPoint": name, "language": "python",
            "rawBindings": [json.dumps(b) for b in bindings],
            "bindings": {b["name"]: {"type": b["type"], "direction": DIRECTIONS.get(b.get("direction", "in").lower(), 2)} for b in bindings},
        }
        policy = retry_options(name, policy_of(spec.get("retry")))
        if policy:
            metadata["retryOptions"] = policy
        self.metadata.append(metadata)
        self.written[name] = {**spec, "trigger": trigger, "handler": {"attached": True}}


def policy_of(retry: Optional[Mapping[str, Any]]) -> Optional[Dict[str, Any]]:
    """A policy in the words of function.json, in the words of decorators."""
    if not retry:
        return None
    strategy = {"fixedDelay": "fixed_delay", "exponentialBackoff": "exponential_backoff"}.get(retry.get("strategy", ""), retry.get("strategy"))
    words = {"maxRetryCount": "max_retry_count", "delayInterval": "delay_interval", "minimumInterval": "minimum_interval", "maximumInterval": "maximum_interval"}
    return {"strategy": strategy, **{words[key]: value for key, value in retry.items() if key in words}}


def parameters(handler: Handler) -> Tuple[List[str], bool]:
    """The names of a handler's parameters, and whether they say what it wants: those of a
    mock do not."""
    kinds = inspect.signature(handler).parameters.values()
    plain = all(p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in kinds)
    names = [p.name for p in kinds if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return names, plain and bool(names)


def taking(handler: Handler, names: List[str], some: bool) -> Handler:
    """A handler that takes its bindings by name; the one within has them in order, or none."""
    takes = some or bool(inspect.signature(handler).parameters)

    def order(given: Mapping[str, Any]) -> List[Any]:
        return [given[name] for name in names] if takes else []

    async def later(**given: Any) -> Any:
        return await handler(*order(given))

    def now(**given: Any) -> Any:
        return handler(*order(given))

    outer: Any = later if inspect.iscoroutinefunction(handler) else now
    outer.__signature__ = inspect.Signature([inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names])
    outer.__annotations__ = {}
    return outer  # type: ignore[no-any-return]


def handled(handler: Any) -> bool:
    """Whether a function's handler is one of this process, and no script."""
    return callable(handler)


_apps: Dict[int, Tuple["weakref.ref[Any]", Described]] = {}


def described(app: Any) -> Described:
    """The functions of a FunctionApp, which can be asked for them once."""
    known = _apps.get(id(app))
    if known is not None and known[0]() is app:
        return known[1]
    if not callable(getattr(app, "get_functions", None)):
        raise KitError(f"app is {app!r}, and has to be a FunctionApp of azure.functions, or the folder of an app", "no_app")
    made = Described()
    made.add_app(app)
    _apps[id(app)] = (weakref.ref(app), made)
    return made


def file_of(app: Any) -> Optional[str]:
    """The file whose module has the app at its top level."""
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if path and any(value is app for value in list(vars(module).values())):
            return os.path.abspath(str(path))
    return None


class Handlers:
    """The worker's side of one host. It knows neither sockets nor threads."""

    def __init__(self, of: List[Described]) -> None:
        self.metadata = [one for d in of for one in d.metadata]
        self.functions: Dict[str, Callee] = {name: f for d in of for name, f in d.app.functions.items()}
        self.running: Dict[str, Dict[str, Any]] = {}  # calls, by invocation
        self._level = logging.NOTSET  # of the root logger, before the calls that run
        self.raised: Optional[BaseException] = None  # of a handler, that is not for the host alone

    def answer(self, kind: str, body: Dict[str, Any]) -> Optional[Tuple[str, Dict[str, Any]]]:
        """The answer to a message that is no call; None: there is none."""
        if kind == "workerInitRequest":
            return "workerInitResponse", answers.initialized()
        if kind == "functionsMetadataRequest":
            return "functionMetadataResponse", answers.declared(lambda: self.metadata)
        if kind == "functionLoadRequest":
            return "functionLoadResponse", answers.loaded(self, body)
        if kind == "workerStatusRequest":
            return "workerStatusResponse", {}
        return None

    def load(self, identity: str, metadata: Mapping[str, Any]) -> None:
        if identity not in self.functions:
            raise KitError(f"the test has no function {identity!r}", "no_function")

    def function(self, body: Mapping[str, Any]) -> Optional[Callee]:
        return self.functions.get(str(body.get("functionId") or ""))

    @contextlib.contextmanager
    def call(self, body: Dict[str, Any]) -> Iterator[None]:
        """Runs a call: what it logs is its own."""
        identity = str(body.get("invocationId") or "")
        root = logging.getLogger()
        if not self.running:  # calls may run side by side
            self._level = root.level
            if root.level > logging.INFO:
                root.setLevel(logging.INFO)
        self.running[identity] = body
        token = logs.invocation.set(identity)
        try:
            yield
        finally:
            logs.invocation.reset(token)
            del self.running[identity]
            if not self.running and root.level == logging.INFO:
                root.setLevel(self._level)

    def failed(self, error: BaseException) -> Dict[str, Any]:
        """The answer of a failed attempt. What ends a test, such as Ctrl+C or pytest.fail, ends
        the call of the kit too."""
        if not isinstance(error, (Exception, SystemExit, asyncio.CancelledError)):
            self.raised = error
        answer = {"result": failure.status(error)}
        if self.raised is not error:
            # A mock that raises one exception again and again would grow its stack.
            error.__traceback__ = None
        return answer

    def told(self) -> str:
        """The calls that run, for people."""
        return ", ".join(sorted(self._name(body) for body in self.running.values()))

    @staticmethod
    def _name(body: Mapping[str, Any]) -> str:
        retry = (body.get("retryContext") or {}).get("retryCount")
        return f"{body.get('functionId')} attempt {int(retry or 0) + 1}"


class Lines(logging.Handler):
    """Sends what the calls of one host log, and nothing else."""

    def __init__(self, wire: Any, running: Mapping[str, Any]) -> None:
        super().__init__()
        self._wire, self._running = wire, running

    def emit(self, record: logging.LogRecord) -> None:
        identity = logs.invocation.get()
        if identity not in self._running:
            return
        told = {"invocationId": identity, "category": record.name, "level": logs.level(record.levelno), "logCategory": "User"}
        try:
            try:
                self._wire.send("rpcLog", {**told, "message": self.format(record)})
            except ValueError as error:
                self._wire.send("rpcLog", {**told, "message": f"a line is too long to travel: {error}"})
        except Exception:
            self.handleError(record)


def debugged() -> bool:
    """Whether a debugger holds this process, so that no real limit counts."""
    debugpy = sys.modules.get("debugpy")
    try:
        if debugpy is not None and debugpy.is_client_connected():
            return True
    except Exception:
        pass
    pydevd = sys.modules.get("pydevd")
    if pydevd is not None and getattr(getattr(pydevd, "get_global_debugger", lambda: None)(), "ready_to_run", False):
        return True
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None:  # pdb asks the person
        if os.path.basename(frame.f_code.co_filename) in ("pdb.py", "bdb.py"):
            return True
        frame = frame.f_back
    return False
