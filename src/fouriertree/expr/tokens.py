"""The tokens of formulas, and the error with a position."""

import re
from dataclasses import dataclass

WORD = re.compile(r"[^\W\d]\w*")
_TOKEN = re.compile(
    rf"""\s*(?:
      (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)
    | (?P<word>{WORD.pattern})
    | (?P<quoted>`(?:[^`]|``)*`)
    | (?P<sign>\*\*|[-+*/^(),])
    | (?P<end>\Z))""",
    re.VERBOSE,
)
# Characters shown on each side of an error.
_WINDOW = 60
# Characters of a reason, which may contain a long name.
_LONGEST_REASON = 300


class ParseError(ValueError):
    """A formula that is not valid; the message marks the position with a caret.

    Examples
    --------
    >>> print(ParseError("unknown name 'y'", "x0 + y", position=5))
    unknown name 'y'
      x0 + y
           ^
    """

    def __init__(self, reason: str, formula: str, position: int) -> None:
        super().__init__(reason, formula, position)
        half = _LONGEST_REASON // 2
        self.reason = reason if len(reason) <= _LONGEST_REASON else f"{reason[:half]}…{reason[-half:]}"
        self.formula = formula
        self.position = position

    def __str__(self) -> str:
        first = max(0, self.position - _WINDOW)
        window = re.sub(r"\s", " ", self.formula[first : self.position + _WINDOW])
        # One character each, so that the caret is aligned, and no control characters.
        shown = "".join(c if c.isprintable() else "\ufffd" for c in window)
        return f"{self.reason}\n  {shown}\n  {' ' * (self.position - first)}^"


@dataclass(frozen=True)
class Token:
    """A token of a formula: a number, word, quoted name, sign, or the end."""

    kind: str
    text: str
    position: int


def tokenize(formula: str) -> list[Token]:
    """The tokens of `formula`; the last one is its end.

    >>> [token.text for token in tokenize("2*`my x`")]
    ['2', '*', '`my x`', '']
    """
    tokens: list[Token] = []
    position = 0
    while not tokens or tokens[-1].kind != "end":
        match = _TOKEN.match(formula, position)
        if match is None:
            position = len(formula) - len(formula[position:].lstrip())
            bad = formula[position]
            reason = "this backtick is not closed" if bad == "`" else f"unexpected character {bad!r}"
            raise ParseError(reason, formula, position)
        kind = str(match.lastgroup)
        tokens.append(Token(kind, match[kind], match.start(kind)))
        position = match.end()
    return tokens
