"""The worker that runs the functions of a Python app.

serve.py takes what the host says and answers it, app.py finds the app's functions,
function.py is one of them, values.py converts what it gets and gives. The standard
library is all that is needed.
"""
