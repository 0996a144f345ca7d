"""The orders app in the model of decorators: orders come in over HTTP, wait in a queue,
are processed, and leave an invoice to send. Some orders fail, which is the point:

    redeliver start functions/samples/python-v2
    redeliver send queue orders '{"id":"7","fail":true}'

The policy in host.json (4 retries) covers every function; SendInvoice has one of its
own, which takes its place.
"""

import json
import logging

import azure.functions as func

app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)


class PaymentError(Exception):
    pass


@app.function_name(name="PlaceOrder")
@app.route(route="orders", methods=["POST"])
@app.queue_output(arg_name="orders", queue_name="orders", connection="AzureWebJobsStorage")
def place_order(req: func.HttpRequest, orders: func.Out[str]) -> func.HttpResponse:
    """Answers POST /api/orders and puts the order on the queue."""
    try:
        order = req.get_json()
        number = order["id"]
    except (ValueError, KeyError, TypeError):
        return func.HttpResponse('want {"id":"..."}\n', status_code=400)  # an answer, not a failure
    orders.set(json.dumps(order))
    return func.HttpResponse(f"order {number} accepted\n", status_code=202)


@app.function_name(name="ProcessOrder")
@app.queue_trigger(arg_name="message", queue_name="orders", connection="AzureWebJobsStorage")
@app.queue_output(arg_name="invoices", queue_name="invoices", connection="AzureWebJobsStorage")
def process_order(message: func.QueueMessage, invoices: func.Out[str], context: func.Context) -> None:
    """Handles one order. An exception is tried again by the policy, and after the last
    attempt by the queue."""
    order, retry = message.get_json(), context.retry_context
    if retry.max_retry_count and retry.retry_count == retry.max_retry_count:
        logging.warning("last attempt of this delivery")
    if order.get("fail") or retry.retry_count < order.get("flaky", 0):
        raise PaymentError("payment service unavailable")
    logging.info("order %s processed", order["id"])
    invoices.set(json.dumps({"order": order["id"]}))


@app.function_name(name="SendInvoice")
@app.queue_trigger(arg_name="message", queue_name="invoices", connection="AzureWebJobsStorage")
@app.retry(strategy="exponential_backoff", max_retry_count="3", minimum_interval="00:00:02", maximum_interval="00:01:00")
async def send_invoice(message: func.QueueMessage) -> None:
    logging.info("invoice of order %s sent", message.get_json()["order"])


@app.function_name(name="Heartbeat")
@app.timer_trigger(arg_name="timer", schedule="0 */5 * * * *")
def heartbeat(timer: func.TimerRequest) -> None:
    logging.info("still here, past due: %s", timer.past_due)
