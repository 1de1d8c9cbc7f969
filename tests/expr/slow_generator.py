"""Reference implementation of both generators on Python integers, following the paper."""

from fouriertree.expr.opcodes import CONST, VAR

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(z):
    """SplitMix64's output function, on Python integers."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


class Stream:
    """The random numbers of candidate (seed, id)."""

    def __init__(self, seed, candidate):
        self.key = mix(mix((seed + GOLDEN) & MASK) ^ mix((candidate * GOLDEN + 1) & MASK))

    def bits(self, counter, key=None):
        return mix(((self.key if key is None else key) + (counter + 1) * GOLDEN) & MASK)

    def coin(self, node):
        return (self.bits(node, ~self.key & MASK) >> 11) / 2**53


class Drawer:
    """Common to both: the choice of a function or a leaf for node k = 1, 2, …"""

    def __init__(self, grammar, seed, candidate):
        self.stream, self.grammar, self.rows = Stream(seed, candidate), grammar, list(grammar.primitives)

    def head(self, lo, hi):
        bits = self.stream.bits(0)
        return lo + ((bits >> 32) * (hi - lo + 1) >> 32), bits & 1 == 1

    def function(self, node):
        return self.rows[(self.stream.bits(2 * node - 1) >> 32) * len(self.rows) >> 32]

    def leaf(self, node):
        kind, value = self.stream.bits(2 * node - 1) >> 1 & (2**31 - 1), self.stream.bits(2 * node)
        low, high = self.grammar.constants
        if kind < self.grammar.constant_share * 2**31:
            return (CONST, 0, low + (high - low) * ((value >> 11) / 2**53))
        return (VAR, (value >> 32) * self.grammar.n_columns >> 32, 0.0)


def ramped_twin(generator, grammar, seed, candidate):
    """Depth first by recursion, the last argument first; tokens in postfix order."""
    draw = Drawer(grammar, seed, candidate)
    levels, full = draw.head(generator.lo, generator.hi)
    node = 0

    def grow(depth):
        nonlocal node
        node += 1
        me = node
        willing = full or depth < generator.lo or draw.stream.bits(2 * me - 1) & 1 == 1
        if depth >= levels - 1 or not willing:
            return (draw.leaf(me),)
        row = draw.function(me)
        arguments = [grow(depth + 1) for _ in range(row.arity)][::-1]
        return (*(token for a in arguments for token in a), (row.opcode, 0, 0.0))

    return grow(0)


def composition_twin(generator, grammar, seed, candidate):
    """Algorithm 2 of the paper, line by line."""
    draw = Drawer(grammar, seed, candidate)
    l, p = generator.l, generator.p  # noqa: E741 - the paper's name
    u, chance = draw.head(l, generator.u)
    p = p if chance else 1.0

    def sample(j, d):
        """f_j ~ E(p, d, l, u)."""
        if d < l or (d < u and draw.stream.coin(j - 1) < p):
            return draw.function(j)
        return draw.leaf(j)

    d, f, arguments = {1: 0}, {}, {}
    i, j = 1, 2
    f[1] = sample(1, 0)
    while i < j:
        d[j] = d[j + 1] = d[i] + 1
        arity = 0 if isinstance(f[i], tuple) else f[i].arity
        arguments[i] = range(j, j + arity)
        for child in arguments[i]:
            f[child] = sample(child, d[i] + 1)
        j += arity
        i += 1

    def postfix(i):
        if isinstance(f[i], tuple):
            return (f[i],)
        return (*(token for child in arguments[i] for token in postfix(child)), (f[i].opcode, 0, 0.0))

    return postfix(1)
