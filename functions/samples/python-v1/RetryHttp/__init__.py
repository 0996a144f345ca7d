import azure.functions as func

from ..shared_code.attempts import until_the_last


def main(req: func.HttpRequest, context: func.Context) -> None:
    until_the_last(context, "the request")
