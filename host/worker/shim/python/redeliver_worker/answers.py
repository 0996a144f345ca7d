"""What a worker answers to the host, but for its life: the program and the test kit share it.

Each answer is the body of a message. None of them raises for what the app does wrong.
"""

import platform
import struct
import sys

from . import failure

VERSION = "1.0"

CAPABILITIES = {
    "RpcHttpBodyOnly": "true",
    "RawHttpBodyBytes": "true",
    "RpcHttpTriggerMetadataRemoved": "true",
    "TypedDataCollection": "true",
    "WorkerStatus": "true",
    "HandlesWorkerTerminateMessage": "true",
}


def initialized():
    return {
        "capabilities": CAPABILITIES, "result": failure.SUCCESS,
        "workerMetadata": {
            "runtimeName": "python", "runtimeVersion": platform.python_version(),
            "workerVersion": VERSION, "workerBitness": f"{struct.calcsize('P') * 8}bit",
            "customProperties": {"implementation": platform.python_implementation(), "executable": sys.executable},
        },
    }


def declared(read):
    """The functions that read() gives, as App.declared does."""
    try:
        functions = read()
    except BaseException as error:  # SystemExit too: a module may call sys.exit
        return {"result": failure.status(error)}
    return {"result": failure.SUCCESS, "useDefaultMetadataIndexing": functions is None, "functionMetadataResults": functions or []}


def loaded(app, body):
    identity = str(body.get("functionId") or "")
    try:
        app.load(identity, body.get("metadata") or {})
        result = failure.SUCCESS
    except BaseException as error:
        result = failure.status(error)
    return {"functionId": identity, "result": result}


def unknown(body):
    """The answer to a call of a function that is not there."""
    return {"result": failure.status(LookupError(f"there is no function {body.get('functionId')!r}"))}


def called(function, body, failed):
    """Calls a function; failed(error) is the answer to what it raises."""
    try:
        arguments, outputs = function.arguments(body)
        result = function.handler(**arguments)
        return {"result": failure.SUCCESS, **function.answer(result, outputs)}
    except BaseException as error:
        return failed(error)


async def called_async(function, body, failed):
    """called for an async function."""
    try:
        arguments, outputs = function.arguments(body)
        result = await function.handler(**arguments)
        return {"result": failure.SUCCESS, **function.answer(result, outputs)}
    except BaseException as error:
        return failed(error)


def send(link, request, body, answer):
    """Sends the answer to a call. One that cannot travel is the failure of the call."""
    answer["invocationId"] = str(body.get("invocationId") or "")
    try:
        link.send("invocationResponse", answer, request)
    except Exception as error:
        link.send("invocationResponse", {"invocationId": answer["invocationId"], "result": failure.untold(answer, error)}, request)
