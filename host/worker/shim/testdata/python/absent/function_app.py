import os

import azure.functions as func

app = func.FunctionApp()
exec(os.environ["ABSENT"])
