"""A function app as people have it: nothing in it knows of tests."""

import json
import logging

import azure.functions as func

app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)


class Carrier:
    def book(self, order):
        return f"label for {order['id']}"


carrier = Carrier()


@app.function_name("ship")
@app.service_bus_queue_trigger(arg_name="message", queue_name="parcels", connection="ServiceBusConnection")
@app.retry(strategy="fixed_delay", max_retry_count="4", delay_interval="00:00:30")
def ship(message: func.ServiceBusMessage, context: func.Context):
    order = json.loads(message.get_body())
    logging.info("booking %s, retry %d", order["id"], context.retry_context.retry_count)
    carrier.book(order)


@app.function_name("orders")
@app.route(route="orders/{id}", methods=["POST"])
@app.queue_output(arg_name="parcel", queue_name="packed", connection="AzureWebJobsStorage")
def orders(req: func.HttpRequest, parcel: func.Out[str]) -> func.HttpResponse:
    parcel.set(req.route_params["id"])
    return func.HttpResponse(carrier.book({"id": req.route_params["id"]}), status_code=202)
