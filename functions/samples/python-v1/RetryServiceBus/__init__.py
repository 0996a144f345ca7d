import azure.functions as func

from ..shared_code.attempts import until_the_last


def main(message: func.ServiceBusMessage, context: func.Context) -> None:
    until_the_last(context, "message " + message.get_body().decode())
