"""A process with the command, its libraries and its kernels in memory, which it forks for every request.

Loading them takes more than two seconds, which every test of a separate process would spend.  A request is a line of
JSON on stdin: the code, its arguments, a folder, the environment, and the paths that stdout and stderr go to.  The
answer is a line with the exit status, negative for a signal.
"""

import json
import os
import sys
import traceback

import fouriertree.cli.fit  # noqa: F401  loaded before the first fork
from fouriertree import SymbolicRegressor


def execute(code, arguments, folder, environment, stdout, stderr):
    """Execute code as `python -c` does; the exit status."""
    for number, path in enumerate((os.devnull, stdout, stderr)):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT
        os.dup2(os.open(path, flags, 0o600), number)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
    os.chdir(folder)
    os.environ.update(environment)
    sys.argv = ["-c", *arguments]
    status = 0
    try:
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return status


def main():
    SymbolicRegressor(max_evaluations=1, random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0])
    for line in sys.stdin:
        child = os.fork()
        if not child:
            os._exit(execute(**json.loads(line)))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
