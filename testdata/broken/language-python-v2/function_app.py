import azure.functions as func
