"""The kit's process: found, started once for each test process, ended with it."""

from __future__ import annotations

import atexit
import collections
import importlib
import json
import os
import shutil
import subprocess
import threading
from typing import IO, Any, Deque, Dict, List, Optional
from urllib.parse import urlsplit

from ._types import KitError

PROTOCOL = 1
REPAIR = "python -m pip install --upgrade redeliver-testing redeliver-cli"


def binary() -> str:
    """The program: REDELIVER_BINARY, the package redeliver-cli, or the PATH."""
    given = os.environ.get("REDELIVER_BINARY")
    if given:
        if not os.path.isfile(given):
            raise KitError(f"REDELIVER_BINARY is {given!r}, and there is no such file", "no_program")
        return given
    try:
        return str(importlib.import_module("redeliver_cli").binary())
    except (ImportError, FileNotFoundError):
        pass
    found = shutil.which("redeliver")
    if found is None:
        raise KitError("the program redeliver is not on this machine", "no_program", 'install it with "python -m pip install redeliver-cli", or set REDELIVER_BINARY')
    return found


class Kit:
    """A process "redeliver kit", or one that REDELIVER_KIT says."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._said: Deque[str] = collections.deque(maxlen=200)
        shared = os.environ.get("REDELIVER_KIT")
        line = shared if shared else self._start()
        self._line = line
        told: Dict[str, Any] = {}
        try:
            told = json.loads(line)
        except ValueError:
            pass
        if told.get("kit") != PROTOCOL:
            text = f"the kit speaks protocol {PROTOCOL}, and the program another one: {line.strip() or 'it has ended'}"
            text += self.last_words()
            self.close()
            raise KitError(text, "wrong_version", f"update both: {REPAIR}")
        self.version = str(told.get("version") or "")
        address = urlsplit(str(told["address"]))
        self.host, self.port = str(address.hostname), int(address.port or 80)
        self.token = str(told["token"])

    def _start(self) -> str:
        # Code of a test may have turned these off for itself; a process of its own group would
        # not hear the terminal, and must not: it ends with its standard input.
        environment = {name: value for name, value in os.environ.items() if name != "REDELIVER_KIT"}
        process: subprocess.Popen[bytes] = subprocess.Popen(
            [binary(), "kit", "--parent", str(os.getpid())], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
            start_new_session=os.name != "nt", creationflags=0x00000200 if os.name == "nt" else 0,
        )
        self._process = process
        assert process.stdout is not None and process.stderr is not None
        self._listener = threading.Thread(target=self._listen, args=(process.stderr,), name="redeliver kit", daemon=True)
        self._listener.start()
        return process.stdout.readline().decode("utf-8", "replace")

    def _listen(self, errors: IO[bytes]) -> None:
        for line in errors:
            self._said.append(line.decode("utf-8", "replace").rstrip())

    def last_words(self) -> str:
        """How the process has ended, and what it has said, for errors."""
        text = ""
        if self._process is not None:
            try:
                text = f"\nredeliver kit ended with {self._process.wait(1)}"
                self._listener.join(1)
            except subprocess.TimeoutExpired:
                pass
        return text + "".join(f"\n  {line}" for line in list(self._said)[-20:])

    @property
    def lives(self) -> bool:
        return self.pid == os.getpid() and (self._process is None or self._process.poll() is None)

    def close(self) -> None:
        """Ends the process. It ends by itself when this one does, however that ends."""
        process, self._process = self._process, None
        if process is None or self.pid != os.getpid():
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


_lock = threading.Lock()
_kits: List[Kit] = []


def kit() -> Kit:
    """The kit of this process, started when it is first asked for, or when it has ended."""
    with _lock:
        if not _kits or not _kits[-1].lives:
            _kits[:] = [Kit()]
            atexit.register(_kits[-1].close)
        return _kits[-1]
