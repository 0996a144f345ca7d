import logging

import azure.functions as func


async def main(message: func.QueueMessage) -> None:
    logging.info("invoice of order %s sent", message.get_json()["order"])
