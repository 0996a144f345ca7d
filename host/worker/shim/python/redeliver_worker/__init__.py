"""The worker that runs the functions of a Python app.

The program is serve.py, which takes what the host says, with link.py. The rest is a library,
which the test kit has too: answers.py makes the answers, app.py finds the app's functions,
function.py is one of them, values.py converts what it gets and gives. The standard
library is all that is needed.
"""
