"""The functions of an app: declared in code, or one script for each function.json."""

import importlib
import importlib.util
import os
import re
import sys
import types

from . import sdktypes
from .function import Binding, Function, LoadError

STANDIN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "standin")
PACKAGE = "__app__"  # scripts are modules of it, so that they can import each other


class App:
    def __init__(self, say):
        """say is told what the user should know: a level, and a text."""
        self._say = say
        self._library = None
        self.directory = None
        self.functions = {}  # by ID

    def at(self, directory):
        """Makes a folder that of the app. What is installed comes before its modules, as
        on the platform."""
        if not directory or self.directory is not None:
            return
        self.directory = os.path.abspath(directory)
        packages = os.path.join(self.directory, ".python_packages", "lib", "site-packages")
        if os.path.isdir(packages) and packages not in sys.path:
            sys.path.insert(0, packages)
        if self.directory not in sys.path:
            sys.path.append(self.directory)

    def library(self):
        """azure.functions, the app's own or else the stand-in."""
        if self._library is None:
            try:
                self._library = importlib.import_module("azure.functions")
            except ModuleNotFoundError as error:
                if error.name not in ("azure", "azure.functions"):
                    raise
                self._library = self._stand_in()
        return self._library

    def _stand_in(self):
        sys.path.append(STANDIN)
        importlib.invalidate_caches()
        azure = importlib.import_module("azure")
        part = os.path.join(STANDIN, "azure")
        if part not in azure.__path__:  # a package that does not look for its other parts
            azure.__path__.append(part)
        library = importlib.import_module("azure.functions")
        self._say(
            "Warning",
            f"the package azure-functions is not installed for {sys.executable}; a small stand-in serves in its place. "
            f'Install it with "{sys.executable} -m pip install azure-functions"',
        )
        return library

    def script(self):
        """The file that declares functions in code, None when there is none."""
        name = os.environ.get("PYTHON_SCRIPT_FILE_NAME") or "function_app.py"
        if not re.fullmatch(r"[A-Za-z0-9_][\w-]*\.py", name):
            raise ValueError(f"PYTHON_SCRIPT_FILE_NAME is {name!r}, and has to be the name of a .py file in the app's folder")
        path = os.path.join(self.directory or os.getcwd(), name)
        return path if os.path.isfile(path) else None

    def declared(self):
        """The metadata of the functions that are declared in code; None: each has a
        function.json."""
        path = self.script()
        if path is None:
            return None
        library = self.library()
        module = imported(path)
        register = library.FunctionRegister
        apps = {id(value): value for value in vars(module).values() if isinstance(value, register)}
        if len(apps) != 1:
            number = "no" if not apps else "more than one"
            raise ValueError(f"{os.path.basename(path)} has {number} FunctionApp at its top level")
        return self.described(next(iter(apps.values())).get_functions(), os.path.basename(path))

    def described(self, found, script):
        """The metadata of the functions of a FunctionApp, which a file declares."""
        library = self.library()
        ready, bad = {}, {}
        clients = sdktypes.registry()
        for function in found:
            name = function.get_function_name()
            bindings = {b.name: Binding(b.type, direction(b) == 1) for b in function.get_bindings()}
            try:
                ready[name] = Function(name, self.directory, function.get_user_function(), bindings, library.get_binding_registry(), clients)
            except LoadError as error:
                bad[name] = str(error)
        if not bad:
            self.functions.update(ready)
        else:  # as with the platform's worker none runs
            beside = f"it is not loaded while another one is bad: {', '.join(bad)}; the platform's worker loads all functions of function_app.py or none"
            bad.update((name, beside) for name in ready)
        return [self._metadata(function, script, ready, bad) for function in found]

    def _metadata(self, function, script, ready, bad):
        name = function.get_function_name()
        clients = ready[name].clients() if name in ready else ()
        metadata = {
            "name": name, "functionId": name, "directory": self.directory, "scriptFile": script,
            "entryPoint": name, "language": "python", "properties": {"worker_indexed": "True"},
            "rawBindings": sdktypes.marked(function.get_raw_bindings(), clients),
            "bindings": {
                b.name: {"type": b.type, "direction": direction(b), "dataType": int(getattr(b, "data_type", None) or 0)}
                for b in function.get_bindings()
            },
        }
        if name in bad:
            metadata["status"] = {"status": "Failure", "exception": {"message": bad[name]}}
        retry = retry_options(name, function.get_settings_dict("retry_policy"))
        if retry:
            metadata["retryOptions"] = retry
        return metadata

    def load(self, identity, metadata):
        """Loads one function. An exception says why it cannot be called."""
        self.at(metadata.get("directory") and os.path.dirname(os.path.abspath(metadata["directory"])))
        if identity in self.functions:
            return
        name, script = metadata.get("name") or identity, metadata.get("scriptFile")
        if self.script() is not None:
            raise LoadError(name, f"{os.path.basename(self.script())} declares no such function")
        if not script:
            raise LoadError(name, "nothing says which script it is in")
        registry = self.library().get_binding_registry()
        handler = self._entry(name, os.path.abspath(metadata.get("directory") or os.path.dirname(script)), script, metadata.get("entryPoint") or "main")
        bindings = {}
        for key, info in (metadata.get("bindings") or {}).items():
            if info.get("direction") in ("inout", 2):
                raise LoadError(name, f'the binding {key} has the direction "inout", which Python does not have')
            bindings[key] = Binding(info.get("type") or "", info.get("direction") in ("out", 1))
        self.functions[identity] = Function(name, metadata.get("directory") or "", handler, bindings, registry)

    def _entry(self, name, directory, script, entry):
        parent = os.path.dirname(directory)
        package = sys.modules.get(PACKAGE)
        if package is None:
            package = sys.modules[PACKAGE] = types.ModuleType(PACKAGE)
            package.__path__ = []
        if parent not in package.__path__:
            package.__path__.append(parent)
        relative = os.path.relpath(os.path.join(directory, script), parent)
        stem, suffix = os.path.splitext(relative)
        parts = stem.split(os.sep)
        if suffix != ".py" or os.pardir in parts:
            raise LoadError(name, f"{script!r} is no Python script of the app")
        if parts[-1] == "__init__":
            parts.pop()
        module = importlib.import_module(".".join([PACKAGE, *parts]))
        handler = getattr(module, entry, None)
        if not callable(handler):
            raise LoadError(name, f"there is no function {entry}() in {relative}")
        return handler


def imported(path):
    """The module of a file, whatever else has its name."""
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def direction(binding):
    return int(binding.direction)


def retry_options(name, policy):
    """The policy of a decorator as it travels, None for none."""
    if not policy:
        return None
    strategy = policy.get("strategy")
    if strategy not in ("fixed_delay", "exponential_backoff"):
        raise ValueError(f'function {name}: the retry strategy is {strategy!r}, and has to be "fixed_delay" or "exponential_backoff"')
    try:
        count = int(policy.get("max_retry_count"))
    except (TypeError, ValueError):
        count = None
    if count is None or not -(1 << 31) <= count < 1 << 31:
        raise ValueError(f"function {name}: max_retry_count is {policy.get('max_retry_count')!r}, and has to be a whole number of 32 bits")
    options = {"maxRetryCount": count, "retryStrategy": strategy}
    wanted = {"delay_interval": "delayInterval"} if strategy == "fixed_delay" else {"minimum_interval": "minimumInterval", "maximum_interval": "maximumInterval"}
    for setting, member in wanted.items():
        options[member] = f"{seconds(name, setting, policy.get(setting))}s"
    return options


def seconds(name, setting, text):
    match = re.fullmatch(r"(\d{1,2}):(\d{1,2}):(\d{1,2})", str(text))
    hours, minutes, rest = map(int, match.groups()) if match else (24, 0, 0)
    if hours > 23 or minutes > 59 or rest > 59:
        raise ValueError(f'function {name}: {setting} of the retry policy is {text!r}, and has to be a time such as "00:00:10"')
    return hours * 3600 + minutes * 60 + rest
