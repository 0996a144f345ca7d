import json
import logging

import azure.functions as func

from ..shared_code.payment import PaymentError


def main(message: func.QueueMessage, invoices: func.Out[str], context: func.Context) -> None:
    """Handles one order. An exception is tried again by the policy, and after the last
    attempt by the queue."""
    order, retry = message.get_json(), context.retry_context
    if retry.max_retry_count and retry.retry_count == retry.max_retry_count:
        logging.warning("last attempt of this delivery")
    if order.get("fail") or retry.retry_count < order.get("flaky", 0):
        raise PaymentError("payment service unavailable")
    logging.info("order %s processed", order["id"])
    invoices.set(json.dumps({"order": order["id"]}))
