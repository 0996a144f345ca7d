"""Prints what azure.functions makes of each decorator: names, parameters, bindings."""
import enum
import inspect
import json
import logging

import azure.functions as func

logging.disable(logging.CRITICAL)

SAMPLES = {
    "data_type": func.DataType.BINARY, "cardinality": func.Cardinality.MANY, "access_rights": func.AccessRights.LISTEN,
    "auth_level": func.AuthLevel.ANONYMOUS, "methods": [func.HttpMethod.GET, "post"], "source": func.BlobSource.EVENT_GRID,
}
TEXTS = {"data_type": "stream", "cardinality": "one", "access_rights": "manage", "auth_level": "admin", "methods": ["GET"], "source": "EventGrid"}


def value(name, texts, of):
    if name == "type":
        return "customTrigger" if of == "generic_trigger" else "custom"
    if name in SAMPLES:
        return (TEXTS if texts else SAMPLES)[name]
    return f"{name}-value"


def bindings(name, arguments):
    app = func.FunctionApp()

    def run(req):
        pass

    try:
        decorated = getattr(app, name)(**arguments)(run)
        if not name.endswith("trigger") and name not in ("route", "schedule"):
            decorated = app.queue_trigger(arg_name="trigger", queue_name="q", connection="c")(decorated)
        function = app.get_functions()[0]
    except Exception as error:
        return f"{type(error).__name__}"
    found = [json.loads(raw) for raw in function.get_raw_bindings()]
    return sorted((b for b in found if b["name"] != "trigger"), key=lambda b: b["name"])


out = {"enums": {}, "decorators": {}}
for name in sorted(dir(func)):
    kind = getattr(func, name)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        out["enums"][name] = {member.name: str(member.value) for member in kind}
for name in sorted(dir(func.FunctionApp)):
    method = getattr(func.FunctionApp, name)
    if name.startswith("_") or not callable(method):
        continue
    given = [p for p in inspect.signature(method).parameters.values() if p.kind is not p.VAR_KEYWORD and p.name != "self"]
    names = [p.name for p in given]
    if "arg_name" not in names and name != "route":
        continue
    required = {p.name: value(p.name, False, name) for p in given if p.default is p.empty}
    every = {n: value(n, False, name) for n in names if not n.endswith("_extra_fields")}
    texts = {n: value(n, True, name) for n in names if not n.endswith("_extra_fields")}
    out["decorators"][name] = {
        "parameters": names, "required": sorted(required),
        "least": bindings(name, required), "all": bindings(name, every), "text": bindings(name, texts),
    }
print(json.dumps(out, indent=1, sort_keys=True))
