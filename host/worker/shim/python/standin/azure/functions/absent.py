"""What the stand-in does not have."""

import sys


def absent(shown, name):
    """The error of a name that only the package may have."""
    if name.startswith("_"):
        return AttributeError(name)
    return AttributeError(
        f"the stand-in for the package azure-functions has no {shown}: install the package "
        f'with "{sys.executable} -m pip install azure-functions"'
    )
