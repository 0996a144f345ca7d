"""What start() is given, and small forms that travel."""

from __future__ import annotations

import math
import os
import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from ._attached import Described, Handlers, described, handled
from ._session import target
from ._types import Function, KitError, Span

__all__ = ["Options", "camel", "entity", "target"]

HANDLER_SECONDS = 30.0


class _All(str):
    """No name: all. None is no such word, since a name that a test has not got would be it."""

    def __repr__(self) -> str:
        return "ALL"


ALL: str = _All("")


def one(what: str, given: str) -> Optional[str]:
    """A name, or None for all."""
    if given is None:
        raise TypeError(f"{what} is None: leave it out for all")
    return None if given is ALL else named(what, given)


def named(what: str, given: str) -> str:
    """A name that a call cannot do without."""
    if not isinstance(given, str) or not given:
        raise TypeError(f"{what} has to be a name, and is {given!r}")
    return given


def whole(what: str, given: int, least: int = 1) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or given < least:
        raise TypeError(f"{what} has to be a whole number from {least}, and is {given!r}")
    return given


def members(what: str, given: Mapping[str, Any]) -> Dict[str, Any]:
    if not isinstance(given, Mapping):
        raise TypeError(f"the {what} has to be a dict of members, and is {given!r}")
    return dict(given)


def application_property(name: str, value: Union[str, int, float]) -> str:
    """A property of a message: text as it is, a number or a truth value with its type."""
    if isinstance(value, str):
        return f"{name}={value}"
    if isinstance(value, (int, float)) and math.isfinite(value):
        return f"{name}:={str(value).lower()}"
    raise TypeError(f"property {name} is {value!r}, and has to be text, a number, True or False")


@dataclass
class Options:
    """The options of start()."""

    app: Any = None
    functions: Mapping[str, Function] = field(default_factory=dict)
    host: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    set: Sequence[str] = ()
    seed: int = 1
    start: Optional[datetime] = None
    seconds: float = HANDLER_SECONDS
    ports: bool = False
    instances: bool = False
    name: str = ""
    _of: Optional[List[Described]] = None

    @property
    def folder(self) -> Optional[str]:
        """The app's folder; None: it has none."""
        if self.app is None:
            return None
        if isinstance(self.app, (str, os.PathLike)):
            if not os.fspath(self.app):
                raise KitError("app is empty, and has to be the folder of an app", "no_app")
            folder = os.path.abspath(os.fspath(self.app))
            if not os.path.isdir(folder):
                raise KitError(f"app is {folder!r}, and there is no such folder", "no_app")
            return folder
        file = described(self.app).file
        folder = os.path.dirname(file) if file else ""
        return folder if folder and os.path.isfile(os.path.join(folder, "host.json")) else None

    def handlers(self) -> Optional[Handlers]:
        """What runs in this process; None: nothing does."""
        if self._of is None:
            self._of = []
            if self.app is not None and not isinstance(self.app, (str, os.PathLike)):
                self._of.append(described(self.app))
            own = Described()
            for name, spec in self.functions.items():
                if handled(spec.get("handler")):
                    if "trigger" not in spec:
                        raise KitError(f"function {name!r} has a handler and no trigger", "no_trigger")
                    own.add(name, spec, spec["handler"])
            if own.metadata:
                self._of.append(own)
        return Handlers(self._of) if self._of else None

    def sent(self) -> Dict[str, Any]:
        given = {name: dict(spec) for name, spec in self.functions.items() if not handled(spec.get("handler"))}
        for one in self._of or ():
            given.update(one.written)
        sent: Dict[str, Any] = {"seed": self.seed}
        if self._of:
            sent["attached"] = True
        if self.folder is not None:
            sent["app"] = self.folder
        if self.start is not None:
            at = self.start if self.start.tzinfo else self.start.replace(tzinfo=timezone.utc)
            sent["start"] = at.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        for name, value in (
            ("functions", given), ("host", dict(self.host)), ("settings", dict(self.settings)), ("set", list(self.set)),
            ("ports", self.ports), ("instances", self.instances), ("name", self.name),
        ):
            if value:
                sent[name] = value
        return sent


def options(
    app: Any, functions: Optional[Mapping[str, Function]], host: Optional[Mapping[str, Any]], settings: Optional[Mapping[str, str]],
    set: Union[Mapping[str, Any], Sequence[str], None], seed: Optional[int], start: Optional[datetime], timeout: Union[Span, float, None],
    ports: bool, instances: bool, name: Optional[str],
) -> Options:
    if isinstance(set, Mapping):
        set = [f"{key}={value}" for key, value in set.items()]
    return Options(
        app=app, functions=functions or {}, host=host or {}, settings=settings or {}, set=tuple(set or ()), seed=chosen(seed), start=start,
        seconds=real(timeout), ports=ports, instances=instances, name=name or current(),
    )


def chosen(seed: Optional[int]) -> int:
    """The seed: as given, of REDELIVER_SEED, or 1."""
    if seed is not None:
        return whole("seed", seed, 0)
    text = os.environ.get("REDELIVER_SEED", "")
    if text == "random":
        return random.SystemRandom().randrange(1, 1 << 32)
    try:
        return int(text or 1)
    except ValueError:
        raise KitError(f"REDELIVER_SEED is {text!r}, and has to be a whole number or random") from None


def real(timeout: Union[Span, float, None]) -> float:
    """A real limit in seconds: as given, of REDELIVER_TIMEOUT, or 30."""
    if timeout is None:
        timeout = os.environ.get("REDELIVER_TIMEOUT") or HANDLER_SECONDS
    try:
        seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout[:-1] if isinstance(timeout, str) and timeout.endswith("s") else timeout)
    except (TypeError, ValueError):
        seconds = 0.0
    if not 0 < seconds < math.inf or isinstance(timeout, bool):
        raise KitError(f"the timeout is {timeout!r}, and has to be seconds, such as 30 or '30s'") from None
    return seconds


def current() -> str:
    """The test that runs, where pytest says it."""
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]


def camel(then: Any) -> Any:
    """Names of Python as scenarios have them, at the top: service_bus is serviceBus."""
    def word(name: str) -> str:
        first, *rest = name.split("_")
        return first + "".join(part.capitalize() for part in rest)

    return {word(name): value for name, value in then.items()}


def entity(path: str) -> str:
    """The path of a queue, or of a subscription, which may be topic/subscription."""
    first, *rest = path.split("/")
    if rest and not rest[0].startswith("$") and rest[0].lower() != "subscriptions":
        rest.insert(0, "Subscriptions")
    return "/".join([first, *rest])


def several(what: str, given: Any) -> List[Any]:
    """What is sent in order. A text or one document is no list, and nothing is sent by none."""
    if isinstance(given, (str, bytes, bytearray, memoryview, Mapping)) or not isinstance(given, Iterable):
        raise TypeError(f"{what} are a list, and not {given!r}")
    return filled(what, list(given))


def filled(what: str, given: List[Any]) -> List[Any]:
    if not given:
        raise ValueError(f"there are no {what}: nothing would be sent")
    return given
