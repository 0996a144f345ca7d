import azure.functions as func

more = func.Blueprint()
