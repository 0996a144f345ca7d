import azure.functions as func

more = func.Blueprint()


@more.service_bus_topic_trigger(
    arg_name="msg", topic_name="invoices", subscription_name="all", connection="Bus", cardinality="many", is_sessions_enabled=True)
@more.blob_output(arg_name="out", path="invoices/{rand-guid}", connection="AzureWebJobsStorage", data_type="BINARY")
def on_invoice(msg: func.ServiceBusMessage, out: func.Out[bytes]) -> None:
    out.set(msg.get_body())
