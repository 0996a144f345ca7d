import azure.functions as func


def web(environ, start_response):
    body = environ["wsgi.input"].read().decode()
    if body == "fail":
        start_response("503 Service Unavailable", [])
        return [b"out of order"]
    start_response("201 Created", [("Content-Type", "text/x-own"), ("X-Two", "2")])
    text = (
        f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']} {environ['QUERY_STRING']} {environ['SERVER_NAME']}:{environ['SERVER_PORT']} "
        f"{environ['HTTP_X_ONE']} {body} {environ['CONTENT_LENGTH']} {environ['azure_functions.function_name']}"
    )
    return [text.encode(), b"!"]


app = func.WsgiFunctionApp(app=web, http_auth_level=func.AuthLevel.ANONYMOUS, function_name="gateway")
