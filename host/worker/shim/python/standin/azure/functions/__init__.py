"""A small stand-in for the package azure-functions, for apps whose environment does not
have it: the names that samples use, with the same meaning. The real package always wins.
"""

from .absent import absent
from .abstract import Context, Out
from .converters import get_binding_registry
from .decorators import (
    AccessRights, AuthLevel, BlobSource, Blueprint, Cardinality, DataType, DecoratorApi, Function, FunctionApp, FunctionRegister, HttpMethod,
)
from .gateways import AsgiFunctionApp, AsgiMiddleware, ExternalHttpFunctionApp, WsgiFunctionApp, WsgiMiddleware
from .messages import (
    Document, DocumentList, EventGridEvent, EventGridOutputEvent, EventHubEvent, InputStream, QueueMessage, ServiceBusMessage, TimerRequest,
    WarmUpContext,
)
from .web import HttpRequest, HttpResponse

TriggerApi = BindingApi = SettingsApi = DecoratorApi

__all__ = (
    "AccessRights", "AsgiFunctionApp", "AsgiMiddleware", "AuthLevel", "BindingApi", "BlobSource", "Blueprint", "Cardinality", "Context",
    "DataType", "DecoratorApi", "Document", "DocumentList", "EventGridEvent", "EventGridOutputEvent", "EventHubEvent",
    "ExternalHttpFunctionApp", "Function", "FunctionApp", "FunctionRegister", "HttpMethod", "HttpRequest", "HttpResponse", "InputStream",
    "Out", "QueueMessage", "ServiceBusMessage", "SettingsApi", "TimerRequest", "TriggerApi", "WarmUpContext", "WsgiFunctionApp",
    "WsgiMiddleware", "get_binding_registry",
)


def __getattr__(name):
    raise absent(name, name)


# What is read instead of __version__ where that is missing, and told apart by.
__version__ = "0.0.0+stand-in"
