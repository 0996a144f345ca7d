"""A small stand-in for the package azure-functions, for apps whose environment does not
have it: the names that samples use, with the same meaning. The real package always wins.
"""

from .abstract import Context, Out
from .converters import get_binding_registry
from .decorators import (
    AccessRights, AuthLevel, BlobSource, Blueprint, Cardinality, DataType, Function, FunctionApp, FunctionRegister, HttpMethod,
)
from .messages import (
    Document, DocumentList, EventGridEvent, EventGridOutputEvent, EventHubEvent, InputStream, QueueMessage, ServiceBusMessage, TimerRequest,
)
from .web import HttpRequest, HttpResponse

__all__ = (
    "AccessRights", "AuthLevel", "BlobSource", "Blueprint", "Cardinality", "Context", "DataType", "Document", "DocumentList",
    "EventGridEvent", "EventGridOutputEvent", "EventHubEvent", "Function", "FunctionApp", "FunctionRegister", "HttpMethod",
    "HttpRequest", "HttpResponse", "InputStream", "Out", "QueueMessage", "ServiceBusMessage", "TimerRequest", "get_binding_registry",
)

# What is read instead of __version__ where that is missing, and told apart by.
__version__ = "0.0.0+stand-in"
