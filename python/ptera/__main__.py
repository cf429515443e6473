"""python -m ptera [-m MODULE | -c CODE | SCRIPT] [ARGUMENT...]: runs it where there is a GPU.

Python is started anew by `ptera exec`, which has Ptera's libraries in place before anything is
imported.
"""

import sys

from ptera.program import execute_python

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        sys.exit(0 if len(sys.argv) > 1 else 2)
    execute_python(sys.argv[1:])
