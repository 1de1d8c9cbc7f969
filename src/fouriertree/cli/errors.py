"""Exit statuses of the command."""

from __future__ import annotations

SHORT, BAD_INPUT, INTERRUPTED, BROKEN_PIPE, TERMINATED = 1, 2, 130, 141, 143
#: the exit statuses, for help texts and the reference
STATUSES = {
    0: "success",
    SHORT: "`bench` missed a goal; in any other command a bug, with its traceback",
    BAD_INPUT: "bad input, or a file that cannot be read or written, with one sentence on stderr",
    INTERRUPTED: "interrupted by Ctrl-C (SIGINT); `fit` has written and printed its equations so far",
    BROKEN_PIPE: "the reader of the output closed it early, as `head` does",
    TERMINATED: "terminated by SIGTERM; `fit` has written and printed its equations so far",
}


def sentence(error: Exception | str) -> str:
    """The message on one line, as it follows `error:`."""
    words = " ".join(str(error).split())
    return words[:1].lower() + words[1:]
