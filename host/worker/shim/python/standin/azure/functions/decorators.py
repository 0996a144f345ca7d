"""Functions declared in code."""

import enum
import inspect
import json

from .absent import absent


class Named(enum.Enum):
    """A choice; it stands in metadata by its name."""

    def __str__(self):
        return self.name


class DataType(Named):
    UNDEFINED, STRING, BINARY, STREAM = range(4)


class AuthLevel(Named):
    FUNCTION, ANONYMOUS, ADMIN = "function", "anonymous", "admin"


class Cardinality(Named):
    ONE, MANY = "one", "many"


class AccessRights(Named):
    MANAGE, LISTEN = "manage", "listen"


class BlobSource(enum.Enum):
    """A choice that stands in metadata by its value."""

    EVENT_GRID, LOGS_AND_CONTAINER_SCAN = "EventGrid", "LogsAndContainerScan"

    def __str__(self):
        return self.value


class HttpMethod(Named):
    GET, POST, DELETE, HEAD, PATCH, PUT, OPTIONS = "GET", "POST", "DELETE", "HEAD", "PATCH", "PUT", "OPTIONS"


# Members that may be given as text.
CHOICES = {"data_type": DataType, "auth_level": AuthLevel, "cardinality": Cardinality, "access_rights": AccessRights, "methods": HttpMethod}


def chosen(name, value):
    kind = CHOICES.get(name)
    if kind is None or value is None:
        return value
    if name == "methods":
        return [choose(kind, item) for item in value]
    return choose(kind, value)


def choose(kind, value):
    if not isinstance(value, str):
        return value
    try:
        return kind[value.upper()]
    except KeyError:
        raise KeyError(f"{value!r} is no {kind.__name__}: {', '.join(member.name for member in kind)}") from None


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


class Binding:
    """One binding, as function.json has it."""

    def __init__(self, type, way, name, **members):
        self.type, self.direction, self.name = type, way, name
        self.members = {key: chosen(key, value) for key, value in members.items()}

    @property
    def data_type(self):
        kind = self.members.get("data_type")
        return None if kind is None else kind.value

    def get_dict_repr(self):
        plain = {"direction": ("IN", "OUT")[self.direction], "type": self.type, "name": self.name}
        plain.update((camel(key), value) for key, value in self.members.items() if value is not None)
        return plain


class Function:
    """A function with its bindings and settings."""

    def __init__(self, handler):
        self._handler, self._name, self._bindings, self._retry = handler, handler.__name__, [], None

    def __call__(self, *args, **kwargs):
        return self._handler(*args, **kwargs)

    def get_user_function(self):
        return self._handler

    def get_function_name(self):
        return self._name

    def get_bindings(self):
        return self._bindings

    def get_raw_bindings(self):
        return [json.dumps(binding.get_dict_repr(), default=str) for binding in self._bindings]

    def get_settings_dict(self, setting_name):
        return self._retry if setting_name == "retry_policy" else None

    def get_trigger(self):
        return next((binding for binding in self._bindings if binding.type.lower().endswith("trigger")), None)

    def add(self, binding):
        if binding.type.lower().endswith("trigger") and self.get_trigger():
            raise ValueError(f"the function {self._name} has a trigger already: {self.get_trigger().type}")
        self._bindings.append(binding)

    def checked(self, auth_level):
        trigger = self.get_trigger()
        if trigger is None:
            raise ValueError(f"the function {self._name} has no trigger")
        if trigger.type == "httpTrigger":
            for key, value in (("route", self._name), ("auth_level", auth_level)):
                if trigger.members.get(key) is None:
                    trigger.members[key] = value
        return self


IN, OUT = 0, 1

# The decorators: the type of the binding, its way, and the parameters after arg_name; those
# after "*" may be left out.
DECORATORS = {
    "queue_trigger": ("queueTrigger", IN, "queue_name connection * data_type"),
    "blob_trigger": ("blobTrigger", IN, "path connection * source data_type"),
    "timer_trigger": ("timerTrigger", IN, "schedule * run_on_startup use_monitor data_type"),
    "schedule": ("timerTrigger", IN, "schedule * run_on_startup use_monitor data_type"),
    "service_bus_queue_trigger": (
        "serviceBusTrigger", IN, "connection queue_name * data_type access_rights is_sessions_enabled cardinality auto_complete_messages"),
    "service_bus_topic_trigger": (
        "serviceBusTrigger", IN, "connection topic_name subscription_name * data_type access_rights is_sessions_enabled cardinality auto_complete_messages"),
    "event_hub_message_trigger": ("eventHubTrigger", IN, "connection event_hub_name * data_type cardinality consumer_group"),
    "event_grid_trigger": ("eventGridTrigger", IN, "* data_type"),
    "cosmos_db_trigger": (
        "cosmosDBTrigger", IN, "connection database_name container_name * lease_connection lease_database_name lease_container_name "
        "create_lease_container_if_not_exists leases_container_throughput lease_container_prefix feed_poll_delay lease_acquire_interval "
        "lease_expiration_interval lease_renew_interval max_items_per_invocation start_from_beginning start_from_time preferred_locations data_type"),
    "cosmos_db_trigger_v3": (
        "cosmosDBTrigger", IN, "database_name collection_name connection_string_setting * lease_collection_name lease_connection_string_setting "
        "lease_database_name create_lease_collection_if_not_exists leases_collection_throughput lease_collection_prefix checkpoint_interval "
        "checkpoint_document_count feed_poll_delay lease_renew_interval lease_acquire_interval lease_expiration_interval "
        "max_items_per_invocation start_from_beginning preferred_locations data_type"),
    "cosmos_db_input_v3": ("cosmosDB", IN, "database_name collection_name connection_string_setting * id sql_query partition_key data_type"),
    "cosmos_db_output_v3": (
        "cosmosDB", OUT, "database_name collection_name connection_string_setting * create_if_not_exists partition_key collection_throughput "
        "use_multiple_write_locations preferred_locations data_type"),
    "warm_up_trigger": ("warmupTrigger", IN, "* data_type"),
    "generic_trigger": (None, IN, "type * data_type"),
    "blob_input": ("blob", IN, "path connection * data_type"),
    "cosmos_db_input": (
        "cosmosDB", IN, "connection database_name container_name * partition_key id sql_query preferred_locations data_type"),
    "table_input": ("table", IN, "connection table_name * row_key partition_key take filter data_type"),
    "generic_input_binding": (None, IN, "type * data_type"),
    "queue_output": ("queue", OUT, "queue_name connection * data_type"),
    "blob_output": ("blob", OUT, "path connection * data_type"),
    "service_bus_queue_output": ("serviceBus", OUT, "connection queue_name * data_type access_rights"),
    "service_bus_topic_output": ("serviceBus", OUT, "connection topic_name * subscription_name data_type access_rights"),
    "event_hub_output": ("eventHub", OUT, "connection event_hub_name * data_type"),
    "event_grid_output": ("eventGrid", OUT, "* topic_endpoint_uri topic_key_setting connection data_type"),
    "cosmos_db_output": (
        "cosmosDB", OUT, "connection database_name container_name * create_if_not_exists partition_key container_throughput preferred_locations data_type"),
    "table_output": ("table", OUT, "connection table_name * row_key partition_key data_type"),
    "generic_output_binding": (None, OUT, "type * data_type"),
}


class DecoratorApi:
    """Takes functions by its decorators. They may stand in any order, on one function."""

    def __init__(self, *args, **kwargs):
        self._functions = []

    def __getattr__(self, name):
        raise absent(f"{type(self).__name__}.{name}", name)

    def _decorator(self, configure):
        def decorate(given):
            if isinstance(given, Function):
                function = given
            else:
                function = Function(given)
                self._functions.append(function)
            configure(function)
            return function

        return decorate

    def _bound(self, *bindings):
        return self._decorator(lambda function: [function.add(binding) for binding in bindings])

    def function_name(self, name, setting_extra_fields=None):
        return self._decorator(lambda function: setattr(function, "_name", name))

    def http_type(self, http_type):
        """Says what answers requests. The worker does not ask."""
        return self._decorator(lambda function: None)

    def retry(self, strategy, max_retry_count, delay_interval=None, minimum_interval=None, maximum_interval=None, setting_extra_fields=None):
        policy = {
            "strategy": strategy, "max_retry_count": max_retry_count, "delay_interval": delay_interval,
            "minimum_interval": minimum_interval, "maximum_interval": maximum_interval,
        }
        return self._decorator(lambda function: setattr(function, "_retry", policy))

    def route(self, route=None, trigger_arg_name="req", binding_arg_name="$return", methods=None, auth_level=None,
              trigger_extra_fields=None, binding_extra_fields=None):
        return self._bound(
            Binding("httpTrigger", IN, trigger_arg_name, route=route, methods=methods, auth_level=auth_level, **trigger_extra_fields or {}),
            Binding("http", OUT, binding_arg_name, **binding_extra_fields or {}),
        )


def decorator(name, kind, way, words):
    required, _, optional = words.partition("*")
    parameters = [inspect.Parameter(word, inspect.Parameter.POSITIONAL_OR_KEYWORD) for word in ("self", "arg_name", *required.split())]
    parameters += [inspect.Parameter(word, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None) for word in optional.split()]
    parameters.append(inspect.Parameter("more", inspect.Parameter.VAR_KEYWORD))
    signature = inspect.Signature(parameters)

    def method(*args, **kwargs):
        given = signature.bind(*args, **kwargs).arguments
        self, arg_name, more = given.pop("self"), given.pop("arg_name"), given.pop("more", {})
        own = kind or given.pop("type")
        if own == "eventGrid" and kind and ("connection" in given) == ({"topic_endpoint_uri", "topic_key_setting"} <= set(given)):
            raise ValueError(f"the output {arg_name} to Event Grid has either a connection, or topic_endpoint_uri and topic_key_setting")
        return self._bound(Binding(own, way, arg_name, **given, **more))

    method.__name__, method.__signature__ = name, signature
    return method


for _name, (_kind, _way, _words) in DECORATORS.items():
    setattr(DecoratorApi, _name, decorator(_name, _kind, _way, _words))


class Blueprint(DecoratorApi):
    """Functions that an app takes over with register_functions."""


class FunctionRegister(DecoratorApi):
    """What the worker looks for at the top level of the app's file."""

    def __init__(self, auth_level=AuthLevel.FUNCTION, *args, **kwargs):
        super().__init__()
        self.auth_level = choose(AuthLevel, auth_level)

    def register_functions(self, function_container):
        if isinstance(function_container, FunctionRegister):
            raise TypeError("a FunctionApp cannot be registered in another one: make it a Blueprint")
        self._functions.extend(function_container._functions)

    register_blueprint = register_functions

    def get_functions(self):
        names = [function.get_function_name() for function in self._functions]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two functions have the name {name}")
        return [function.checked(self.auth_level) for function in self._functions]


class FunctionApp(FunctionRegister):
    """The functions of an app."""

    def __init__(self, http_auth_level=AuthLevel.FUNCTION):
        super().__init__(auth_level=http_auth_level)
