import logging

import azure.functions


# The sample of the platform's older documentation, with its fault: logging.log wants a
# level first, so that every attempt ends with a TypeError, and the caller gets 500.
def main(req: azure.functions.HttpRequest, context: azure.functions.Context) -> None:
    logging.log(f"retry {context.retry_context.retry_count}")

    if context.retry_context.retry_count == context.retry_context.max_retry_count:
        logging.log(f"{context.function_name} has used all of its {context.retry_context.max_retry_count} retries")
