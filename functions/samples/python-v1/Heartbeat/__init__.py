import logging

import azure.functions as func


def main(timer: func.TimerRequest) -> None:
    logging.info("still here, past due: %s", timer.past_due)
