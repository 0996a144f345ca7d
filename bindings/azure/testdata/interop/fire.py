"""Puts messages and uploads blobs for the functions of app, and looks at what
became poison.

Usage: python3 fire.py CONNECTION_STRING put|poison
"""
import sys

# The folder's queue.py must not stand in for the standard library's queue.
sys.path = [p for p in sys.path if not p.endswith("testdata/interop")]

import base64
import json
import re

from azure.core.exceptions import ResourceExistsError
from azure.storage.blob import BlobServiceClient
from azure.storage.queue import QueueServiceClient


def encode(text):
    return base64.b64encode(text.encode()).decode()


def put(queues, blobs):
    orders = queues.get_queue_client("orders")
    try:
        orders.create_queue()
    except ResourceExistsError:
        pass
    for text in ("good from python", "bad from python"):
        orders.send_message(encode(text))
    orders.send_message("no base64: plain text")
    uploads = blobs.get_container_client("uploads")
    try:
        uploads.create_container()
    except ResourceExistsError:
        pass
    for text in ("good from python", "bad from python"):
        uploads.upload_blob(f"{text}.txt", text)


def poison(queues, blobs):
    def messages(name):
        return queues.get_queue_client(name).peek_messages(max_messages=32)

    orders = messages("orders-poison")
    assert sorted(m.content for m in orders) == sorted([encode("bad from python"), "no base64: plain text"]), orders
    assert [m.dequeue_count for m in orders] == [0, 0], orders
    assert messages("orders") == []
    [blob] = messages("webjobs-blobtrigger-poison")
    said = json.loads(base64.b64decode(blob.content))
    assert (said["ContainerName"], said["BlobName"], said["BlobType"]) == ("uploads", "bad from python.txt", "BlockBlob"), said
    assert said["FunctionId"].endswith("Import") and re.fullmatch(r'"?0x[0-9A-F]+"?', said["ETag"]), said


def main(connection, step):
    queues, blobs = QueueServiceClient.from_connection_string(connection), BlobServiceClient.from_connection_string(connection)
    {"put": put, "poison": poison}[step](queues, blobs)
    print("ok")


main(*sys.argv[1:])
