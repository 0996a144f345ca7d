"""One function: what its bindings and its signature say, and one call of it."""

import inspect
import types
import typing

from . import sdktypes
from .context import Context, Out
from .values import Generic, arrived, leaving

UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))


class LoadError(Exception):
    """The function and its bindings do not fit."""

    def __init__(self, name, reason):
        super().__init__(f"cannot load the function {name}: {reason}")


class Binding(typing.NamedTuple):
    """A binding as its function declares it."""

    type: str
    out: bool


class Parameter(typing.NamedTuple):
    """A parameter that a binding fills, or the returned value."""

    converter: typing.Any
    type: typing.Any
    shown: str  # the name of the binding's type
    client: bool = False  # a client of an SDK, which its converter makes for the type


class Function:
    def __init__(self, name, directory, handler, bindings, converters, clients=None):
        """Bindings are by name; converters is the registry of azure.functions, clients that
        of SDK types, None for none."""
        self.name, self.directory, self.handler = name, directory, handler
        self._converters, self._clients = converters, clients
        self.is_async = inspect.iscoroutinefunction(handler)
        self.inputs, self.outputs = {}, {}
        self.returns = None
        parameters = set(inspect.signature(handler).parameters)
        try:
            annotations = typing.get_type_hints(handler)
        except NameError as error:
            raise LoadError(name, f"an annotation cannot be read: {error}") from error
        bound = {key: binding for key, binding in bindings.items() if key != "$return"}
        self.wants_context = "context" in parameters and "context" not in bound
        if self.wants_context:
            parameters.discard("context")
            wanted = annotations.get("context")
            if wanted is not None and getattr(wanted, "__name__", "") != "Context":
                raise LoadError(name, f'the parameter "context" has to be an azure.functions.Context, and its annotation is {wanted!r}')
        self._same_names(parameters, set(bound))
        for key, binding in bound.items():
            self._bind(key, binding, key in annotations, annotations.get(key))
        self._bind_return(bindings, annotations)

    def _same_names(self, parameters, bound):
        if parameters - bound:
            raise LoadError(self.name, f"its parameters {listed(parameters - bound)} have no binding")
        if bound - parameters:
            raise LoadError(self.name, f"its bindings {listed(bound - parameters)} have no parameter")

    def _converter(self, kind):
        return self._converters.get(kind) or Generic

    def _implicit(self, kind):
        """Whether a binding lets the function return a value."""
        converter = self._converter(kind)
        return kind != "durableClient" and bool(getattr(converter, "has_implicit_output", lambda: False)())

    def _bind(self, key, binding, annotated, annotation):
        is_out = named(annotation) == "Out"
        if annotated and binding.out != is_out:
            words = ("out", "is not") if binding.out else ("in", "is")
            raise LoadError(self.name, f'the binding {key} has the direction "{words[0]}", and its annotation {words[1]} azure.functions.Out')
        wanted = annotation
        if is_out:
            of = typing.get_args(annotation)
            if len(of) != 1:
                raise LoadError(self.name, f"the annotation of {key} does not say what is set: write azure.functions.Out[str]")
            wanted = of[0]
        if annotated and not isinstance(wanted, type) and typing.get_origin(wanted) in (None, *UNIONS):
            raise LoadError(self.name, f"the annotation of {key} is no type: {annotation!r}")
        client = sdktypes.wanted(self._clients, annotation)
        converter = (self._clients.get(binding.type) or Generic) if client else self._converter(binding.type)
        if annotated and wanted in (str, bytes) and not self._implicit(binding.type):
            converter = Generic
        if annotated:
            self._check(key, binding, wanted, converter.check_output_type_annotation if is_out else converter.check_input_type_annotation)
        (self.outputs if binding.out else self.inputs)[key] = Parameter(converter, wanted, binding.type, client)

    def _check(self, key, binding, wanted, check):
        try:
            fits = check(wanted)
        except TypeError:
            fits = False
        if not fits:
            raise LoadError(self.name, f"the binding {key} of the type {binding.type} cannot be a {shown(wanted)}, as its annotation has it")

    def _bind_return(self, bindings, annotations):
        own = bindings.get("$return")
        annotated, wanted = "return" in annotations, annotations.get("return")
        if own is None:
            implicit = [b.type for b in bindings.values() if self._implicit(b.type)]
            if implicit:
                self.returns = Parameter(self._converter(implicit[-1]), wanted, implicit[-1])
            return
        if not own.out:
            raise LoadError(self.name, '"$return" has to have the direction "out"')
        converter = self._converter(own.type)
        if annotated:
            if not isinstance(wanted, type) or typing.get_origin(wanted):
                raise LoadError(self.name, f"the annotation of what it returns is no type: {wanted!r}")
            self._check("$return", own, wanted, converter.check_output_type_annotation)
        self.returns = Parameter(converter, wanted, own.type)

    def clients(self):
        """The names of the inputs that are clients of an SDK."""
        return {key for key, parameter in self.inputs.items() if parameter.client}

    def arguments(self, request):
        """What the function is called with, and the outputs among it."""
        metadata = {key: arrived(value) for key, value in (request.get("triggerMetadata") or {}).items()}
        arguments = {}
        for given in request.get("inputData") or []:
            key = given.get("name")
            parameter = self.inputs.get(key)
            if parameter is None:
                raise TypeError(f"the host gives a value for {key!r}, and the function {self.name} has no such input")
            datum = arrived(given.get("data"))
            own = metadata if parameter.converter.has_trigger_support() else None
            more = {"pytype": parameter.type} if parameter.client else {}
            try:
                arguments[key] = parameter.converter.decode(datum, trigger_metadata=own, **more)
            except NotImplementedError as error:
                kind = datum.type if datum else "null"
                raise TypeError(f"{key}: a binding of the type {parameter.shown} cannot take a value of the kind {kind!r}{because(error)}") from error
        outputs = {key: Out() for key in self.outputs}
        arguments.update(outputs)
        if self.wants_context:
            arguments["context"] = Context(self, request)
        return arguments, outputs

    def answer(self, result, outputs):
        """What the function gives, as it travels."""
        if result is not None and self.returns is None:
            raise RuntimeError(f"the function {self.name} has no $return binding, and returned a value: {type(result).__name__}")
        answer = {"outputData": []}
        for key, out in outputs.items():
            if out.get() is not None:
                answer["outputData"].append({"name": key, "data": self._encoded(key, self.outputs[key], out.get()) or {}})
        if self.returns is not None:
            value = self._encoded("$return", self.returns, result)
            if value is not None:
                answer["returnValue"] = value
        return answer

    def _encoded(self, key, parameter, value):
        try:
            return leaving(parameter.converter.encode(value, expected_type=parameter.type))
        except NotImplementedError as error:
            raise TypeError(
                f"{key}: a binding of the type {parameter.shown} cannot take a value of the type {type(value).__name__}{because(error) or advice(parameter)}"
            ) from (error if str(error) else None)


def because(error):
    return f": {error}" if str(error) else ""


def advice(parameter):
    return ": return a str or an azure.functions.HttpResponse" if parameter.shown == "http" else ""


def listed(names):
    return ", ".join(sorted(names))


def named(annotation):
    return getattr(typing.get_origin(annotation) or annotation, "__name__", "")


def shown(annotation):
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)
