import logging
import re

import azure.functions as func

app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)


def until_the_last(context):
    """Fails until the last retry, and says what it knows of the attempts before."""
    retry = context.retry_context
    before = re.search(r"attempt \d+ fails", retry.rpc_exception.message)
    text = f"attempt {retry.retry_count + 1} fails; retry {retry.retry_count} of {retry.max_retry_count}; before: {before.group() if before else 'nothing'}"
    if retry.retry_count < retry.max_retry_count:
        raise RuntimeError(text)


POLICIES = {
    "Fixed": {"strategy": "fixed_delay", "max_retry_count": "4", "delay_interval": "00:00:10"},
    "Exponential": {"strategy": "exponential_backoff", "max_retry_count": "5", "minimum_interval": "00:00:10", "maximum_interval": "00:15:00"},
}

for name, policy in POLICIES.items():

    @app.function_name(name=name + "Queue")
    @app.queue_trigger(arg_name="item", queue_name=name.lower(), connection="AzureWebJobsStorage")
    @app.retry(**policy)
    def queue(item: func.QueueMessage, context: func.Context) -> None:
        until_the_last(context)

    @app.function_name(name=name + "ServiceBus")
    @app.service_bus_queue_trigger(arg_name="item", queue_name=name.lower(), connection="AzureWebJobsServiceBus")
    @app.retry(**policy)
    def servicebus(item: func.ServiceBusMessage, context: func.Context) -> None:
        until_the_last(context)

    @app.function_name(name=name + "Http")
    @app.route(route=name + "Http", methods=["GET"])
    @app.retry(**policy)
    def http(req: func.HttpRequest, context: func.Context) -> func.HttpResponse:
        until_the_last(context)
        return func.HttpResponse("")


# logging.log wants a level first, so that every attempt ends with a TypeError.
@app.function_name(name="Literal")
@app.route(route="Literal", methods=["GET"])
@app.retry(**POLICIES["Fixed"])
def literal(req: func.HttpRequest, context: func.Context) -> func.HttpResponse:
    logging.log(f"retry {context.retry_context.retry_count}")
    return func.HttpResponse("")
