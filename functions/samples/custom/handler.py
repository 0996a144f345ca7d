"""The orders app as an HTTP custom handler: any program that serves HTTP will do.

    redeliver start functions/samples/custom
    redeliver send queue orders '{"id":"7","fail":true}' --dir functions/samples/custom

A request is POST /<function> with {"Data": {...}, "Metadata": {...}}; a text in Data is
JSON inside JSON. A status outside 2xx is a failure, and the retry policy applies.
"""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class PaymentError(Exception):
    pass


def place_order(data, metadata):
    try:
        order = json.loads(data["req"].get("Body", ""))
    except ValueError:
        order = None
    if not isinstance(order, dict) or not order.get("id"):
        return {"Outputs": {"res": {"statusCode": 400, "body": 'want {"id":"..."}'}}}
    return {"Outputs": {
        "res": {"statusCode": 202, "body": f"order {order['id']} accepted"},
        "orders": order,
    }}


def process_order(data, metadata):
    order = json.loads(json.loads(data["message"]))
    retry = metadata.get("RetryContext")
    attempt = retry["RetryCount"] if retry else 0
    if order.get("fail") or attempt < order.get("flaky", 0):
        raise PaymentError(f"payment service unavailable, retry_count {attempt}")
    return {"Outputs": {"invoices": {"order": order["id"]}}, "Logs": [f"order {order['id']} processed"]}


def send_invoice(data, metadata):
    invoice = json.loads(json.loads(data["message"]))
    return {"Logs": [f"invoice sent for order {invoice['order']}"]}


def heartbeat(data, metadata):
    return {"Logs": ["still here"]}


FUNCTIONS = {
    "/PlaceOrder": place_order,
    "/ProcessOrder": process_order,
    "/SendInvoice": send_invoice,
    "/Heartbeat": heartbeat,
}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(200, {})

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            self.answer(200, FUNCTIONS[self.path](request["Data"], request["Metadata"]))
        except Exception as e:  # whatever it is, the attempt has failed
            self.answer(500, {"error": f"{type(e).__name__}: {e}"})

    def answer(self, status, body):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        pass  # standard error counts as errors


if __name__ == "__main__":
    port = int(os.environ["FUNCTIONS_CUSTOMHANDLER_PORT"])
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
