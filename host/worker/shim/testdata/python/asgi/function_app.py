import azure.functions as func

lives = []


async def web(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            lives.append(message["type"])
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return
    body = (await receive())["body"]
    headers = dict(scope["headers"])
    text = (
        f"{scope['method']} {scope['path']} {scope['query_string'].decode()} {scope['server']} {headers[b'x-one'].decode()} "
        f"{body.decode()} {lives} {scope['azure_functions.function_name']}"
    )
    start = {"type": "http.response.start", "status": 201, "headers": [(b"content-type", b"text/x-own"), (b"x-two", b"2")]}
    await send(start)
    await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
    await send({"type": "http.response.body", "body": b"!"})


app = func.AsgiFunctionApp(app=web, http_auth_level=func.AuthLevel.ANONYMOUS, function_name="gateway")
