"""Parameters that are clients of an SDK: packages azurefunctions-extensions-bindings-* make
them, of a value that says where the thing is (spec workers-dotnet-java 1.8)."""

import importlib
import json


def registry():
    """What the app's packages make clients with, None without such a package."""
    try:
        return importlib.import_module("azurefunctions.extensions.base").get_binding_registry()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "azurefunctions":
            raise
        return None


def wanted(registry, annotation):
    """Whether a parameter is to be a client, or a list of them."""
    return registry is not None and registry.check_supported_type(annotation)


def marked(bindings, clients):
    """Bindings in JSON, with a word for the host in those that are clients."""
    return [mark(text) if clients and json.loads(text).get("name") in clients else text for text in bindings]


def mark(text):
    binding = json.loads(text)
    return json.dumps({**binding, "properties": {**(binding.get("properties") or {}), "SupportsDeferredBinding": True}})
