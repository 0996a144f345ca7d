import azure.functions as func

app = func.FunctionApp()


@app.queue_trigger(arg_name="msg", queue_name="orders", connection="AzureWebJobsStorage")
@app.retry(strategy="fixed_delay", max_retry_count="9007199254740991", delay_interval="00:00:10")
def process(msg: str) -> None:
    pass
