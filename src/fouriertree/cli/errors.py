"""Exit statuses, and how commands say that their input is at fault."""

from __future__ import annotations

from fouriertree.errors import InputError, listed, reason, suggestion, unreadable, unwritable

__all__ = [
    "BAD_INPUT",
    "BROKEN_PIPE",
    "INTERRUPTED",
    "SHORT",
    "STATUSES",
    "TERMINATED",
    "InputError",
    "listed",
    "reason",
    "sentence",
    "suggestion",
    "unreadable",
    "unwritable",
]

SHORT, BAD_INPUT, INTERRUPTED, BROKEN_PIPE, TERMINATED = 1, 2, 130, 141, 143
#: what every exit status means, for help texts and scripts
STATUSES = {
    0: "all went well",
    SHORT: "`bench` missed a goal; in any other command a bug, which shows its traceback",
    BAD_INPUT: "bad input, or a file that cannot be read or written: one sentence on stderr says what",
    INTERRUPTED: "interrupted by Ctrl-C (SIGINT); `fit` has written and printed what it had found",
    BROKEN_PIPE: "whoever read the output closed it early, as `head` does",
    TERMINATED: "ended by SIGTERM; `fit` has written and printed what it had found",
}


def sentence(error: Exception | str) -> str:
    """The message on one line, as it follows `error:`."""
    words = " ".join(str(error).split())
    return words[:1].lower() + words[1:]
