"""Mutations that keep most of an input's structure: words for text, values for JSON."""

from __future__ import annotations

import json
from random import Random
from typing import Any

WORDS = [
    b"x0", b"x1", b"sin(", b")", b"(", b"+", b"-", b"*", b"/", b"^", b"**", b",", b"`", b"``", b"1e999",
    b"nan", b"inf", b"e",
    b"pi", b".5", b"9" * 400, b"\x00", b"\xed\xa0\x80", b"\xff", b"\n", b"\r\n", b"\t", b";", b'"', b'""',
    b"'", b"\\", b"\x1b[31m",
    "²".encode(), "٣".encode(), b"__import__", b"max(", b"pdiv(", b"a b", b"NaN", b"1,5", b"-0.0",
    b"</script>", b"*/", b"--",
    b"{{", b"$", b"%", b"=", b"\xe2\x80\xae", b"\xef\xbb\xbf", b"5e-324", b"1_0", b"True",
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2.5, 1e308, 10**400, "", "x0", "nan", "sin(x0)", "x9", "\ud800", [], {}, [[]],
    [0, 1], -0.0,
    [[1, 0]], ["a", "a"], {"a": 1}, "2.0*x0", "__import__('os')", "(" * 50, 1e-320,
]  # fmt: skip
LONGEST = 20_000


def mutate_text(data: bytes, rng: Random, others: list[bytes]) -> bytes:
    """One to four mutations of bytes and words."""
    for _ in range(rng.randint(1, 4)):
        data = rng.choice(CHANGES)(data, rng, others)
    return data[:LONGEST]


def insert_word(data: bytes, rng: Random, others: list[bytes]) -> bytes:
    i = rng.randint(0, len(data))
    return data[:i] + rng.choice(WORDS) + data[i:]


def replace_byte(data: bytes, rng: Random, others: list[bytes]) -> bytes:
    i = rng.randint(0, max(0, len(data) - 1))
    return data[:i] + bytes([rng.randrange(256)]) + data[i + 1 :]


def remove_part(data: bytes, rng: Random, others: list[bytes]) -> bytes:
    i = rng.randint(0, len(data))
    return data[:i] + data[i + rng.randint(1, 8) :]


def repeat_part(data: bytes, rng: Random, others: list[bytes]) -> bytes:
    i = rng.randint(0, len(data))
    part = data[i : i + rng.randint(1, 16)]
    return data[:i] + part * rng.choice([2, 3, 50]) + data[i:]


def splice(data: bytes, rng: Random, others: list[bytes]) -> bytes:
    other = rng.choice(others)
    return data[: rng.randint(0, len(data))] + other[rng.randint(0, len(other)) :]


CHANGES = [insert_word, insert_word, replace_byte, remove_part, repeat_part, splice]


def mutate_json(data: bytes, rng: Random, others: list[bytes]) -> bytes:
    """Mostly a value, a key or a subtree; sometimes bytes, to test the JSON parser."""
    if rng.random() < 0.2:
        return mutate_text(data, rng, others)
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return mutate_text(data, rng, others)
    for _ in range(rng.randint(1, 2)):
        tree = mutate_tree(tree, rng)
    return json.dumps(tree).encode()


def mutate_tree(tree: Any, rng: Random) -> Any:
    """The tree with one mutation."""
    if isinstance(tree, dict) and tree and rng.random() < 0.9:
        key = rng.choice(list(tree))
        if rng.random() < 0.1:
            return {k: v for k, v in tree.items() if k != key} | (
                {"other": tree[key]} if rng.random() < 0.5 else {}
            )
        return {**tree, key: mutate_tree(tree[key], rng)}
    if isinstance(tree, list) and tree and rng.random() < 0.9:
        i = rng.randrange(len(tree))
        choices = [
            [*tree[:i], *tree[i + 1 :]],
            [*tree, tree[i]],
            [*tree[:i], mutate_tree(tree[i], rng), *tree[i + 1 :]],
        ]
        return rng.choice([*choices, choices[-1], choices[-1], choices[-1]])
    return mutate_leaf(tree, rng)


def mutate_leaf(leaf: Any, rng: Random) -> Any:
    if isinstance(leaf, str) and rng.random() < 0.6:
        return mutate_text(leaf.encode("utf-8", "surrogatepass"), rng, [b"x0"]).decode("utf-8", "replace")
    if isinstance(leaf, int | float) and not isinstance(leaf, bool) and rng.random() < 0.6:
        try:
            return rng.choice([leaf + 1, -leaf, leaf * 2, leaf / 3, float(leaf)])
        except OverflowError:
            return 0
    return rng.choice(VALUES)
