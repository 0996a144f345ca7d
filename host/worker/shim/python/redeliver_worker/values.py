"""Values as they travel, and as the converters of azure.functions have them
(spec workers 6)."""

import base64
import json
from email.utils import parsedate_to_datetime
from types import SimpleNamespace


class Datum:
    """A value with the name of its form."""

    def __init__(self, value, type):
        self.value = value
        self.type = type

    @property
    def python_value(self):
        if self.value is None or self.type is None:
            return None
        if self.type == "json":
            return json.loads(self.value)
        if self.type.startswith("collection_"):
            return list(getattr(self.value, self.type[len("collection_"):]))
        return self.value

    @property
    def python_type(self):
        return type(self.python_value)

    def __repr__(self):
        return f"<Datum {self.type} {self.value!r:.20}>"


def unpack(text):
    return base64.b64decode(text or "")


def http(message):
    """A request: its parts are values too."""
    def texts(name):
        return {key: Datum(value, "string") for key, value in (message.get(name) or {}).items()}

    return {
        "method": Datum(message.get("method") or "", "string"),
        "url": Datum(message.get("url") or "", "string"),
        "headers": texts("headers"), "params": texts("params"), "query": texts("query"),
        "body": arrived(message.get("body")) or Datum(b"", "bytes"),
    }


def model(message):
    """Where a thing is, for a client of an SDK."""
    return SimpleNamespace(
        version=message.get("version") or "", source=message.get("source") or "",
        content_type=message.get("contentType") or "", content=unpack(message.get("content")),
    )


# By the name in a message: the name of the form, and what makes a value of it.
ARRIVE = {
    "string": ("string", str),
    "json": ("json", str),
    "bytes": ("bytes", unpack),
    "http": ("http", http),
    "collectionString": ("collection_string", lambda m: SimpleNamespace(string=list(m.get("string") or []))),
    "collectionBytes": ("collection_bytes", lambda m: SimpleNamespace(bytes=[unpack(b) for b in m.get("bytes") or []])),
    "modelBindingData": ("model_binding_data", model),
    "collectionModelBindingData": ("collection_model_binding_data", lambda m: SimpleNamespace(model_binding_data=[model(one) for one in m.get("modelBindingData") or []])),
    "collectionSint64": ("collection_sint64", lambda m: SimpleNamespace(sint64=[int(i) for i in m.get("sint64") or []])),
}


def arrived(message):
    """The datum of a TypedData, None for null. Numbers come as JSON text, as the
    platform's worker wants them."""
    for name, value in (message or {}).items():
        if name not in ARRIVE:
            raise TypeError(f"a value of the kind {name!r} cannot be given to a function")
        kind, read = ARRIVE[name]
        return Datum(read(value), kind)
    return None


def leaving(datum):
    """The TypedData of a datum, None for null."""
    kind, value = (None, None) if datum is None else (datum.type, datum.value)
    if kind is None:
        return None
    if kind == "string":
        return {"string": str(value)}
    if kind == "bytes":
        return {"bytes": base64.b64encode(value).decode("ascii")}
    if kind == "json":
        return {"json": checked(value)}
    if kind in ("dict", "list"):
        return {"json": json.dumps(value, allow_nan=False)}
    if kind in ("int", "bool"):
        return {"int": whole(value)}
    if kind == "double":
        return {"double": value if value - value == 0 else str(value).replace("inf", "Infinity").replace("nan", "NaN")}
    if kind == "http":
        return {"http": response(value)}
    raise TypeError(f"a value of the kind {kind!r} cannot be given back")


def checked(text):
    """JSON text; what is not a number in JSON would end the connection."""
    if "NaN" in text or "Infinity" in text:
        def refuse(name):
            raise ValueError(f"{name} has no form in JSON")

        json.loads(text, parse_constant=refuse)
    return text


def whole(value):
    value = int(value)
    if not -(1 << 63) <= value < 1 << 63:
        raise OverflowError(f"{value} does not fit into 64 bits")
    return str(value)


def response(value):
    out = {
        "statusCode": str(value["status_code"].value),
        "headers": {str(name): str(header.value) for name, header in value["headers"].items()},
        "body": leaving(value["body"]) or {},
    }
    cookies = value.get("cookies")
    if cookies:
        out["cookies"] = [cookie(name, morsel) for jar in cookies for name, morsel in jar.items()]
    return out


SAME_SITE = {"lax": "Lax", "strict": "Strict", "none": "ExplicitNone"}


def cookie(name, morsel):
    out = {
        "name": name, "value": morsel.value, "sameSite": SAME_SITE.get(str(morsel["samesite"]).lower(), "None"),
        "secure": {"value": bool(morsel["secure"])}, "httpOnly": {"value": bool(morsel["httponly"])},
    }
    for attribute in ("domain", "path"):
        if morsel[attribute]:
            out[attribute] = {"value": str(morsel[attribute])}
    if morsel["max-age"] != "":
        out["maxAge"] = {"value": float(morsel["max-age"])}
    if morsel["expires"]:
        moment = parsedate_to_datetime(str(morsel["expires"]).replace("-", " "))
        out["expires"] = {"value": moment.strftime("%Y-%m-%dT%H:%M:%SZ")}
    return out


class Generic:
    """Stands for a binding that azure.functions has no converter for, and for plain str
    and bytes."""

    @staticmethod
    def has_trigger_support():
        return False

    @staticmethod
    def has_implicit_output():
        return True

    @staticmethod
    def check_input_type_annotation(pytype):
        return issubclass(pytype, (str, bytes))

    @staticmethod
    def check_output_type_annotation(pytype):
        return issubclass(pytype, (str, bytes, bytearray))

    @staticmethod
    def decode(data, *, trigger_metadata):
        if data is None or data.type is None:
            return None
        if data.type not in ("string", "bytes", "json"):
            raise ValueError(f"a binding without a converter cannot take a value of the kind {data.type!r}")
        return data.value

    @staticmethod
    def encode(obj, *, expected_type):
        if obj is None:
            return Datum(None, None)
        for types, kind in (((str,), "string"), ((bytes, bytearray), "bytes"), ((dict,), "dict"), ((list,), "list"), ((int,), "int"), ((float,), "double")):
            if isinstance(obj, types):
                return Datum(obj, kind)
        raise NotImplementedError
