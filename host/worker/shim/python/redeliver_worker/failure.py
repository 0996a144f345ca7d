"""What went wrong, as the host is told of it."""

import os
import sys
import traceback

OURS = os.path.dirname(os.path.abspath(__file__))
ENTRY = os.path.join(os.path.dirname(OURS), "worker.py")


def status(error):
    """The StatusResult of an exception."""
    return {"status": "Failure", "exception": exception(error)}


SUCCESS = {"status": "Success"}


def exception(error):
    """The RpcException: the message begins with the type, as the platform's worker has it."""
    kind = type(error)
    module, name, brief = (
        read(lambda: str(type.__getattribute__(kind, part)), lambda broken: "Exception") for part in ("__module__", "__qualname__", "__name__")
    )
    text = read(lambda: str.__str__(str(error)), lambda broken: f"(its message cannot be read: {type(broken).__name__})")
    return {
        "type": name if module in ("builtins", "__main__") else f"{module}.{name}",
        "message": (f"{brief}: {text}" if text else brief) + read(lambda: advice(error)),
        "stackTrace": read(lambda: trace(error)), "isUserException": True,
    }


def read(make, broken=lambda error: ""):
    """A text of an exception. Its class may raise whatever it is asked, sys.exit() too."""
    try:
        return make()
    except BaseException as error:
        return broken(error)


MOST_TEXT = 1 << 15


def untold(answer, error):
    """The StatusResult for an answer that cannot travel: of a failure the beginning of its
    texts, else why."""
    told = answer.get("result", {}).get("exception")
    if told is None:
        return status(error)
    return {"status": "Failure", "exception": {name: text[:MOST_TEXT] if isinstance(text, str) else text for name, text in told.items()}}


def advice(error):
    """What to do about a module that is not there, or a name of one."""
    if isinstance(error, ImportError) and (error.name or "").startswith("azure.functions") and stand_in():
        return f': a small stand-in serves for the package azure-functions; install it with "{sys.executable} -m pip install azure-functions"'
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return ""
    if error.name.partition(".")[0] == "__app__":
        return ": there is no such module in the app's folder"
    return (
        f": if it is no module of the app, add its package to requirements.txt and run "
        f'"{sys.executable} -m pip install -r requirements.txt"'
    )


def stand_in():
    """Whether azure.functions is the worker's own."""
    return getattr(sys.modules.get("azure.functions"), "__version__", "").endswith("+stand-in")


def trace(error):
    """Where it went wrong, without the worker's own frames and those of importing."""
    report = traceback.TracebackException.from_exception(error)
    strip(report)
    if report.__cause__ or (report.__context__ and not report.__suppress_context__) or getattr(report, "exceptions", None):
        return "".join(report.format())
    lines = report.stack.format()
    if isinstance(error, SyntaxError):
        lines += list(report.format_exception_only())[:-1]
    return "".join(lines)


def strip(report, seen=None):
    seen = set() if seen is None else seen
    if report is None or id(report) in seen:
        return
    seen.add(id(report))
    report.stack[:] = [frame for frame in report.stack if not hidden(frame.filename)]
    for part in [report.__cause__, report.__context__, *(getattr(report, "exceptions", None) or [])]:
        strip(part, seen)


def hidden(name):
    return name.startswith(OURS) or name == ENTRY or name.startswith("<frozen importlib") or name.endswith(os.path.join("importlib", "__init__.py"))
