import azure.functions as func

app = func.FunctionApp()


@app.queue_trigger(arg_name="msg", queue_name="orders", connection="AzureWebJobsStorage")
@app.retry(strategy="fixed_delay", max_retry_count="4", delay_interval="10 s")
def process(msg: str) -> None:
    pass
