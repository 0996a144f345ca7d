"""Every public name of the package is in a test."""

import inspect
import os
import re

import redeliver_testing
from redeliver_testing import aio

HERE = os.path.dirname(os.path.abspath(__file__))


def public(kind):
    return [name for name, value in inspect.getmembers(kind) if not name.startswith("_") and (callable(value) or isinstance(value, property))]


def test_every_name_is_in_a_test():
    tests = ""
    for name in os.listdir(HERE):
        if name.startswith("test_") and name != os.path.basename(__file__):
            with open(os.path.join(HERE, name), encoding="utf-8") as file:
                tests += file.read()
    wanted = set(redeliver_testing.__all__) | set(aio.__all__)
    for kind in (redeliver_testing.Host, redeliver_testing.Clock, redeliver_testing.Message, redeliver_testing.Response):
        wanted |= set(public(kind))
    wanted -= {"Function", "Handler", "Span", "Message", "Clock"}  # types of options and answers
    assert sorted(name for name in wanted if not re.search(rf"\b{name}\b", tests)) == []


def test_both_hosts_have_the_same_names():
    assert public(redeliver_testing.Host) == public(aio.Host)
    assert public(redeliver_testing.Clock) == public(aio.Clock)
