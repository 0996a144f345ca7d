import logging

import azure.functions as func

from ..Shared import GREETING


def main(msg: str) -> str:
    return GREETING


def plain(msg: str):
    raise ValueError("no such order")


def nested(msg: str):
    try:
        plain(msg)
    except ValueError as error:
        raise RuntimeError("gave up") from error


class Odd(Exception):
    def __str__(self):
        raise TypeError("no text")


def unreadable(msg: str):
    raise Odd()


# The literal form of the handler of the founding documents: log takes a level first.
def literal(req: func.HttpRequest, context: func.Context) -> None:
    logging.log(f"Current retry count: {context.retry_context.retry_count}")
    if context.retry_context.retry_count == context.retry_context.max_retry_count:
        logging.log(f"Max retries of {context.retry_context.max_retry_count} for function {context.function_name} has been reached")


def wrong_name(message: str):
    pass


def wrong_type(msg: func.TimerRequest):
    pass


def wrong_way(msg: str, out: str):
    pass


def bare_out(msg: str, out: func.Out):
    pass


def no_response(req: func.HttpRequest):
    pass


def wrong_return(req: func.HttpRequest) -> None:
    pass


def wrong_context(msg: str, context: int):
    pass


def no_annotation(msg: "Unknown"):
    pass


not_callable = 7
