import json

import azure.functions as func


def main(req: func.HttpRequest, orders: func.Out[str]) -> func.HttpResponse:
    """Answers POST /api/orders and puts the order on the queue."""
    try:
        order = req.get_json()
        number = order["id"]
    except (ValueError, KeyError, TypeError):
        return func.HttpResponse('want {"id":"..."}\n', status_code=400)  # an answer, not a failure
    orders.set(json.dumps(order))
    return func.HttpResponse(f"order {number} accepted\n", status_code=202)
