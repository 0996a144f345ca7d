# Runs the functions of a Python app for the host: see the package comment of
# host/worker/shim. This file is read by whatever interpreter there is, so that an old
# one can be told from a broken one; what follows needs Python 3.9.
import os
import sys

if sys.version_info < (3, 9):
    sys.stderr.write(
        "error: %s is Python %s, and functions need Python 3.9 or later: activate a newer virtual environment, "
        "or set languageWorkers:python:defaultExecutablePath\n" % (sys.executable, sys.version.split()[0])
    )
    sys.exit(1)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)
    from redeliver_worker import serve

    # The app must not find the worker's files instead of its own or its packages'.
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != here]
    serve.run(sys.argv[1:])


if __name__ == "__main__":
    main()
