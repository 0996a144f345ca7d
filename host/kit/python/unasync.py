"""Writes redeliver_testing/_host.py, the host without "await", of _aio_host.py."""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "redeliver_testing", "_aio_host.py")
TARGET = os.path.join(HERE, "redeliver_testing", "_host.py")

WORDS = (
    ("async def ", "def "), ("await ", ""), ("__aenter__", "__enter__"), ("__aexit__", "__exit__"), ("AsyncSession", "Session"),
)


def without_await(text: str) -> str:
    for word, plain in WORDS:
        text = text.replace(word, plain)
    first, _, rest = text.partition("\n")
    return f"{first}\n\n# Written by unasync.py from _aio_host.py: edit that.\n{rest}"


if __name__ == "__main__":
    with open(SOURCE, encoding="utf-8") as source:
        text = without_await(source.read())
    if sys.argv[1:] == ["--check"]:
        with open(TARGET, encoding="utf-8") as target:
            if target.read() != text:
                sys.exit("redeliver_testing/_host.py is not what unasync.py writes: run it")
    else:
        with open(TARGET, "w", encoding="utf-8") as target:
            target.write(text)
