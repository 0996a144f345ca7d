import os
import subprocess
import sys

from . import binary


def main():
    try:
        program = binary()
    except FileNotFoundError as e:
        sys.exit("redeliver: error: %s" % e)
    if sys.platform != "win32":
        os.execv(program, [program, *sys.argv[1:]])
    try:
        sys.exit(subprocess.call([program, *sys.argv[1:]]))
    except KeyboardInterrupt:  # the console has told the program too
        sys.exit(130)


main()
