"""The connection with the host: one message a line."""

import json
import os
import socket
import threading


class Link:
    """Sends messages from any thread, and gives those of the host to one."""

    def __init__(self, host, port, request_id, most):
        """most limits a message, in bytes; 0: nothing does."""
        self._most = most
        self._socket = socket.create_connection((host, port))
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sending = threading.Lock()
        self._request_id = request_id
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._leave_to_parent)

    def _leave_to_parent(self):
        # A child of user code shares the connection, and has nothing to say on it.
        self._sending = threading.Lock()
        os.close(self._socket.detach())

    def send(self, kind, body, request_id=None):
        """Sends one message. A ValueError or TypeError: it has no form that can travel.

        A connection that has ended is the business of who reads it.
        """
        message = {"requestId": self._request_id if request_id is None else request_id, kind: body}
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        # Half a character, as in "\ud800", has no form in UTF-8.
        line = text.encode("utf-8", "replace") + b"\n"
        if self._most and len(line) > self._most:
            raise ValueError(f"the message has {len(line)} bytes, and the host takes {self._most}")
        try:
            with self._sending:
                self._socket.sendall(line)
        except OSError:
            pass

    def lines(self):
        """Gives the lines of the host until the connection ends."""
        with self._socket.makefile("rb", 1 << 16) as stream:
            try:
                yield from stream
            except OSError:
                return
