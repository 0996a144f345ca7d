"""Web frameworks behind one HTTP function: ASGI (FastAPI, Starlette) and WSGI (Flask)."""

import asyncio
import contextlib
import io
import urllib.parse

from .decorators import AuthLevel, FunctionRegister, HttpMethod
from .web import HttpResponse

CONTEXT = ("function_directory", "function_name", "invocation_id", "thread_local_storage", "trace_context", "retry_context")


def of_context(context):
    """What a framework finds of the invocation."""
    return {f"azure_functions.{name}": getattr(context, name, None) for name in CONTEXT}


def port_of(url, headers):
    """The port that the caller used: a proxy's word comes first."""
    forwarded = headers.get("x-forwarded-port", "").split(",")[0].strip()
    if forwarded.isdigit():
        return int(forwarded)
    return url.port or (443 if url.scheme == "https" else 80)


def answer(status, headers, body):
    """The response of a function. Headers are pairs of text."""
    response = HttpResponse(body, status_code=status, mimetype=dict((name.lower(), value) for name, value in headers).get("content-type"))
    for name, value in headers:
        response.headers.add(name, value)
    return response


class WsgiMiddleware:
    """Calls a WSGI application (PEP 3333) with the request of a function."""

    def __init__(self, app):
        self._app = app
        self.main = self.handle

    def handle(self, req, context=None):
        url = urllib.parse.urlsplit(req.url)
        body = req.get_body() or b""
        errors = io.StringIO()
        environ = {
            "REQUEST_METHOD": req.method, "SCRIPT_NAME": "", "PATH_INFO": urllib.parse.unquote_to_bytes(url.path).decode("latin-1"),
            "QUERY_STRING": url.query, "CONTENT_TYPE": req.headers.get("content-type"), "CONTENT_LENGTH": str(len(body)),
            "SERVER_NAME": url.hostname, "SERVER_PORT": str(port_of(url, req.headers)), "SERVER_PROTOCOL": "HTTP/1.1",
            "wsgi.version": (1, 0), "wsgi.url_scheme": url.scheme, "wsgi.input": io.BytesIO(body), "wsgi.errors": errors,
            "wsgi.multithread": False, "wsgi.multiprocess": False, "wsgi.run_once": False, **of_context(context),
        }
        for name, value in req.headers.items():
            environ["HTTP_" + name.upper().replace("-", "_")] = value.encode("utf-8").decode("latin-1")
        begun = []

        def start_response(status, headers, exc_info=None):
            begun[:] = [int(status.split(" ")[0]), headers]

        parts = self._app({name: value for name, value in environ.items() if value is not None}, start_response)
        try:
            content = b"".join(parts)
        finally:
            if hasattr(parts, "close"):
                parts.close()
        if errors.getvalue():
            raise RuntimeError(errors.getvalue())
        status, headers = begun
        if status >= 500:  # as the package does: the function has failed
            raise RuntimeError(content.decode("utf-8", "replace"))
        return answer(status, headers, content)


class AsgiMiddleware:
    """Calls an ASGI application with the request of a function."""

    def __init__(self, app):
        self._app = app
        self.state = {}
        self._lifespan = None
        self._received = self._started = self._stopped = None
        self._works = False
        self.main = self.handle

    def handle(self, req, context=None):
        return asyncio.run(self.handle_async(req, context))

    async def handle_async(self, req, context=None):
        url = urllib.parse.urlsplit(req.url)
        scope = {
            "type": "http", "asgi": {"version": "2.1", "spec_version": "2.1"}, "asgi.version": "2.1", "asgi.spec_version": "2.1",
            "http_version": "1.1", "method": req.method, "scheme": url.scheme, "path": urllib.parse.unquote(url.path),
            "raw_path": urllib.parse.unquote_to_bytes(url.path), "query_string": url.query.encode("utf-8"), "root_path": "",
            "headers": [(name.encode("utf-8"), value.encode("utf-8")) for name, value in req.headers.items()],
            "server": url.hostname and (url.hostname, port_of(url, req.headers)), "client": None, "state": dict(self.state),
            **of_context(context),
        }
        given, over = [req.get_body() or b""], asyncio.Event()
        begun, content = {"status": 0, "headers": []}, []

        async def receive():
            if given:
                return {"type": "http.request", "body": given.pop(), "more_body": False}
            await over.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            if message["type"] == "http.response.start":
                begun.update(message)
            elif message["type"] == "http.response.body":
                content.append(message.get("body", b""))
                if not message.get("more_body", False):
                    over.set()

        await self._app(scope, receive, send)
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in begun["headers"]]
        return answer(begun["status"], headers, b"".join(content))

    async def notify_startup(self):
        """Tells the application that it begins; False when it cannot, or knows no lifespan."""
        if self._lifespan is None:
            self._received, self._started, self._stopped = asyncio.Queue(), asyncio.Event(), asyncio.Event()
            self._lifespan = asyncio.ensure_future(self._live())
        await self._received.put({"type": "lifespan.startup"})
        await self._started.wait()
        return self._works

    async def notify_shutdown(self):
        if self._lifespan is None:
            raise RuntimeError("the application has not been told that it begins")
        await self._received.put({"type": "lifespan.shutdown"})
        await self._stopped.wait()
        return self._works

    async def _live(self):
        async def send(message):
            kind = message["type"]
            self._works = kind.endswith(".complete")
            (self._started if kind.startswith("lifespan.startup") else self._stopped).set()

        scope = {"type": "lifespan", "asgi": {"version": "2.1", "spec_version": "2.1"}, "asgi.version": "2.1", "asgi.spec_version": "2.1", "state": self.state}
        try:
            await self._app(scope, self._received.get, send)
        finally:
            self._started.set()
            self._stopped.set()


class ExternalHttpFunctionApp(FunctionRegister):
    """An app that is one function for all routes."""

    def __init__(self, middleware, http_auth_level, function_name):
        super().__init__(auth_level=http_auth_level)
        self.middleware = middleware
        handler = self.route(methods=list(HttpMethod), auth_level=self.auth_level, route="/{*route}")(self._handler())
        self.function_name(name=function_name)(handler)


class AsgiFunctionApp(ExternalHttpFunctionApp):
    def __init__(self, app, http_auth_level=AuthLevel.FUNCTION, function_name="http_app_func"):
        self.startup_task_done = False
        super().__init__(AsgiMiddleware(app), http_auth_level, function_name)

    def _handler(self):
        async def http_app_func(req, context):
            if not self.startup_task_done:
                if not await self.middleware.notify_startup():
                    raise RuntimeError("the ASGI application says that it cannot begin")
                self.startup_task_done = True
            return await self.middleware.handle_async(req, context)

        return http_app_func

    def __del__(self):
        if self.startup_task_done:
            with contextlib.suppress(Exception):
                asyncio.run(self.middleware.notify_shutdown())


class WsgiFunctionApp(ExternalHttpFunctionApp):
    def __init__(self, app, http_auth_level=AuthLevel.FUNCTION, function_name="http_app_func"):
        super().__init__(WsgiMiddleware(app), http_auth_level, function_name)

    def _handler(self):
        def http_app_func(req, context):
            return self.middleware.handle(req, context)

        return http_app_func
