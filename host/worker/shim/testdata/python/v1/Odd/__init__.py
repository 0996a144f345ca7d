import logging
import sys


class Text(Exception):
    def __str__(self):
        raise LookupError("no text")


class Leaves(Exception):
    def __str__(self):
        sys.exit(3)


class Letters(str):
    def __format__(self, spec):
        raise LookupError("no format")


class Sub(Exception):
    def __str__(self):
        return Letters("letters")


class NoName(ModuleNotFoundError):
    @property
    def name(self):
        raise LookupError("no name")


class Interrupt(BaseException):
    pass


def fails(msg: str):
    if msg == "loop":
        error = Exception("a")
        error.__cause__ = error
        raise error
    raise {"text": Text(), "leaves": Leaves(), "letters": Sub(), "name": NoName("gone"), "interrupt": Interrupt("stop"), "half": Exception("half \ud800")}[msg]


def lengthy(msg: str, out: "func.Out[str]"):
    if msg == "answer":
        out.set("x" * 200000)
    elif msg == "error":
        raise LookupError("y" * 200000)
    elif msg == "log":
        logging.info("z" * 200000)
    elif msg == "circular":
        loop = []
        loop.append(loop)
        out.set(loop)
    else:
        out.set("lives")


class NoFlush:
    def flush(self):
        raise LookupError("no flush")


class Unnamed(type):
    @property
    def __name__(cls):
        raise LookupError("no name")


class Nameless(Exception, metaclass=Unnamed):
    pass


def deep(level):
    logging.info("level %d", level)
    deep(level + 1)


def odd(msg: str, out: "func.Out[str]"):
    """Leaves the process otherwise than it was, and then lives."""
    if msg == "gone":
        del sys.stdout, sys.stderr
    elif msg == "closed":
        sys.stdout.close()
        sys.stderr.close()
    elif msg == "no flush":
        sys.stdout = NoFlush()
    elif msg == "deep":
        deep(0)
    elif msg == "nameless":
        raise Nameless("x")
    elif msg == "exit":
        sys.stderr.close()
        sys.exit("bad")
    elif msg == "exit odd":
        sys.exit(Text())
    out.set("lives")


import azure.functions as func  # noqa: E402, after what needs it by name only
