import logging
import re

import azure.functions as func


def until_the_last(context):
    """Fails until the last retry, and says what it knows of the attempts before."""
    retry = context.retry_context
    before = re.search(r"attempt \d+ fails", retry.rpc_exception.message)
    text = f"attempt {retry.retry_count + 1} fails; retry {retry.retry_count} of {retry.max_retry_count}; before: {before.group() if before else 'nothing'}"
    if retry.retry_count < retry.max_retry_count:
        raise RuntimeError(text)


def queue(item: func.QueueMessage, context: func.Context) -> None:
    until_the_last(context)


def servicebus(item: func.ServiceBusMessage, context: func.Context) -> None:
    until_the_last(context)


def http(item: func.HttpRequest, context: func.Context) -> None:
    until_the_last(context)


# logging.log wants a level first, so that every attempt ends with a TypeError.
def literal(item: func.HttpRequest, context: func.Context) -> None:
    logging.log(f"retry {context.retry_context.retry_count}")
