import logging


def until_the_last(context, what: str) -> None:
    """Fails until the last retry. Without a policy both counts are 0."""
    retry = context.retry_context
    logging.info("%s: retry %d of %d, after: %s", what, retry.retry_count, retry.max_retry_count, retry.rpc_exception.message.partition("\nStack")[0])
    if retry.retry_count == retry.max_retry_count:
        logging.info("%s has used all of its %d retries", context.function_name, retry.max_retry_count)
        return
    raise RuntimeError(f"{what} is not ready")
