import azure.functions as func

app = func.FunctionApp()


@app.route(route="good")
def good(req: func.HttpRequest) -> str:
    return "hello"


@app.route(route="bad")
def bad(wrong: func.HttpRequest) -> str:
    return "never"


@app.queue_trigger(arg_name="msg", queue_name="orders", connection="AzureWebJobsStorage")
def worse(msg: func.TimerRequest) -> None:
    pass
