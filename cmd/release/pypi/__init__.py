"""The program redeliver, as pip has installed it."""

import os
import sys
import sysconfig

_NAME = "redeliver" + (sysconfig.get_config_var("EXE") or "")


def _folders():
    """The folders where pip puts scripts, the likeliest first."""
    yield sysconfig.get_path("scripts")
    # A virtual environment that sees the packages of its base.
    yield sysconfig.get_path("scripts", vars={"base": sys.base_prefix})
    # pip install --prefix and --target: beside this package.
    package = os.path.dirname(os.path.abspath(__file__))
    yield os.path.join(os.path.dirname(package), "bin")
    yield os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(package)))), "bin")
    # pip install --user.
    scheme = "osx_framework_user" if sys.platform == "darwin" and sys._framework else os.name + "_user"
    if scheme in sysconfig.get_scheme_names():
        yield sysconfig.get_path("scripts", scheme=scheme)


def binary():
    """Return the path of the program."""
    named = os.environ.get("REDELIVER_BINARY")
    if named:
        return named
    looked = []
    for folder in _folders():
        path = os.path.join(folder, _NAME)
        if os.path.isfile(path):
            return path
        if path not in looked:
            looked.append(path)
    raise FileNotFoundError("the program redeliver is not where pip puts scripts: " + ", ".join(looked))
