"""HTTP requests and responses."""

import collections.abc
import json
import types
import urllib.parse


class Headers(collections.abc.MutableMapping):
    """Headers, whatever the case of their names. One may stand several times."""

    def __init__(self, given=None):
        self._list = []
        for name, value in (given or {}).items():
            self.add(name, value)

    def add(self, name, value):
        self._list.append((str(name), str(value)))

    add_header = add

    def get_all(self, name):
        return [value for have, value in self._list if have.lower() == str(name).lower()]

    getlist = get_all

    def __getitem__(self, name):
        for value in self.get_all(name):
            return value
        raise KeyError(name)

    def __setitem__(self, name, value):
        if name in self:
            del self[name]
        self.add(name, value)

    def __delitem__(self, name):
        if name not in self:
            raise KeyError(name)
        self._list = [(have, value) for have, value in self._list if have.lower() != str(name).lower()]

    def __contains__(self, name):
        return bool(self.get_all(name))

    def __iter__(self):
        return iter(dict.fromkeys(name.lower() for name, _ in self._list))

    def __len__(self):
        return len({name.lower() for name, _ in self._list})


class HttpRequest:
    def __init__(self, method, url, *, headers=None, params=None, route_params=None, body=b""):
        self.method, self.url, self.headers = method.upper(), url, Headers(headers)
        self.params, self.route_params = types.MappingProxyType(dict(params or {})), types.MappingProxyType(dict(route_params or {}))
        self._body = body.encode("utf-8") if isinstance(body, str) else body

    def get_body(self):
        return self._body

    def get_json(self):
        try:
            return json.loads(self._body)
        except ValueError as error:
            raise ValueError("the body of the request is no JSON") from error

    @property
    def form(self):
        if "multipart/" in self.headers.get("content-type", ""):
            raise NotImplementedError("forms with files need the package azure-functions: pip install azure-functions")
        if "application/x-www-form-urlencoded" not in self.headers.get("content-type", ""):
            return {}
        return dict(urllib.parse.parse_qsl(self._body.decode("utf-8"), keep_blank_values=True))

    @property
    def files(self):
        raise NotImplementedError("forms with files need the package azure-functions: pip install azure-functions")


class HttpResponse:
    def __init__(self, body=None, *, status_code=None, headers=None, mimetype=None, charset=None):
        self.status_code = int(200 if status_code is None else status_code)
        self.mimetype, self.charset, self.headers = mimetype or "text/plain", charset or "utf-8", Headers(headers)
        if isinstance(body, str):
            body = body.encode(self.charset)
        if body is not None and not isinstance(body, (bytes, bytearray)):
            raise TypeError(f"the body of a response is str, bytes or bytearray, and not {type(body).__name__}")
        self._body = bytes(body or b"")

    def get_body(self):
        return self._body
