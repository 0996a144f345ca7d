"""What annotations name and the worker makes."""

import abc
import typing

T = typing.TypeVar("T")


class Out(abc.ABC, typing.Generic[T]):
    """An output binding: the annotation func.Out[str]."""

    @abc.abstractmethod
    def set(self, val: T) -> None:
        """Sets what goes out."""

    @abc.abstractmethod
    def get(self) -> T:
        """What has been set, None for nothing."""


class Context(abc.ABC):
    """One invocation."""

    invocation_id: str
    function_name: str
    function_directory: str
    thread_local_storage: typing.Any
    trace_context: typing.Any
    retry_context: typing.Any
