"""What user code logs, brought to the invocation that it belongs to."""

import contextvars
import logging
import os
import threading

# The ID of the invocation that runs. It follows into tasks; a thread of user code may
# set context.thread_local_storage.invocation_id, as on the platform.
invocation = contextvars.ContextVar("invocation", default="")
local = threading.local()

MOST_TEXT = 1 << 15  # of a line that is too long to travel

LEVELS = ((logging.CRITICAL, "Critical"), (logging.ERROR, "Error"), (logging.WARNING, "Warning"), (logging.INFO, "Information"), (logging.DEBUG, "Debug"))


def level(number):
    return next((name for least, name in LEVELS if number >= least), "Trace")


class Handler(logging.Handler):
    """Sends the records of module logging to the host."""

    def __init__(self, link):
        super().__init__()
        self._link = link

    def emit(self, record):
        try:
            line = {
                "invocationId": str(invocation.get() or getattr(local, "invocation_id", "") or ""),
                "category": str(record.name),
                "level": level(record.levelno),
                "message": self.format(record),
                "logCategory": "System" if record.name == "azure.functions" or record.name.startswith("azure.functions.") else "User",
            }
            try:
                self._link.send("rpcLog", line)
            except (ValueError, MemoryError) as error:
                self._link.send("rpcLog", {**line, "message": f"{line['message'][:MOST_TEXT]}... (the rest of the line is left out: {error})"})
        except Exception:
            self.handleError(record)


def install(link):
    root = logging.getLogger()
    verbose = os.environ.get("PYTHON_ENABLE_DEBUG_LOGGING", "").lower() in ("1", "true", "t", "yes", "y")
    root.setLevel(logging.DEBUG if verbose else logging.INFO)
    root.addHandler(Handler(link))
