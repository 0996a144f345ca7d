import json
from typing import List

import azure.functions as func
from azurefunctions.extensions.base import BlobClient

app = func.FunctionApp()


@app.blob_trigger(arg_name="blob", path="in/{name}", connection="Store")
@app.blob_input(arg_name="container", path="done", connection="Store")
@app.queue_output(arg_name="out", queue_name="told", connection="Store")
def copy(blob: BlobClient, container: BlobClient, out: func.Out[str]) -> None:
    out.set(json.dumps([blob.told, container and container.told]))


@app.blob_trigger(arg_name="blobs", path="many/{name}", connection="Store")
@app.queue_output(arg_name="out", queue_name="told", connection="Store")
def many(blobs: List[BlobClient], out: func.Out[str]) -> None:
    out.set(json.dumps([blob.told for blob in blobs]))


@app.blob_trigger(arg_name="blob", path="plain/{name}", connection="Store")
@app.queue_output(arg_name="out", queue_name="told", connection="Store")
def plain(blob: func.InputStream, out: func.Out[str]) -> None:
    out.set(blob.read().decode())
