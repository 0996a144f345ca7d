import azure.functions as func

one = func.FunctionApp()
two = func.FunctionApp()
