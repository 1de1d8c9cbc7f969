"""Goals of this package on the suites."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from fouriertree.experiments.bars import Bar
from fouriertree.experiments.bench.names import BLACKBOX, CLASSIC, FEYNMAN, FIRST_PRINCIPLES, STROGATZ, facts
from fouriertree.experiments.bench.summary import middle, middle_r2, r2, share, solved
from fouriertree.experiments.bench.systems import LINEAR, OURS, PEERS
from fouriertree.experiments.store import Record

Records = Sequence[Record]


def bars(records: Records) -> list[Bar]:
    """The bars of the suites that this package was run on."""
    return [*rates(records), *measurements(records), *blackbox(records), *speed(records)]


def chosen(records: Records, suite: str, system: str, noise: float = 0.0) -> list[Record]:
    wanted = (suite, system, noise)
    return [r for r in records if (r["suite"], r["system"], r["noise"]) == wanted]


def rate(records: Records) -> float:
    return 100.0 * share([r for r in records if solved(r)], records)


def rates(records: Records) -> Iterator[Bar]:
    """Recovery rates in percent: against a goal and against every peer."""
    # A law that the operators cannot express is not counted.
    records = [r for r in records if facts("classic").get(r["case"], {}).get("expressible", True)]
    for suite, noise, goal in ((FEYNMAN, 0.0, 75.0), (FEYNMAN, 0.01, 65.0), (CLASSIC, 0.0, 85.0)):
        if ours := chosen(records, suite, OURS, noise):
            name = f"{suite}-noise-{noise:g}"
            yield Bar(f"{name}-solved", rate(ours), goal)
            for peer in PEERS:
                if theirs := chosen(records, suite, peer, noise):
                    yield Bar(f"{name}-above-{peer}", rate(ours), rate(theirs), ">")
    if ours := chosen(records, STROGATZ, OURS):
        yield Bar("strogatz-solved", rate(ours), 100.0)


def measurements(records: Records) -> Iterator[Bar]:
    """Measured quantities whose law has a known form."""
    laws = facts("tables")[FIRST_PRINCIPLES]["laws"]
    ours = [r for r in chosen(records, FIRST_PRINCIPLES, OURS) if r["case"] in laws]
    for case in laws:
        if found := [r for r in ours if r["case"] == case]:
            yield Bar(case.replace("_", "-"), rate(found), 100.0)


def blackbox(records: Records) -> Iterator[Bar]:
    """Accuracy and size against the most accurate peer, and accuracy against the linear baseline."""
    ours = chosen(records, BLACKBOX, OURS)
    if not ours:
        return
    peers = {peer: found for peer in PEERS if (found := chosen(records, BLACKBOX, peer))}
    if peers:
        best = max(peers.values(), key=middle_r2)
        yield Bar("blackbox-r2-against-best-peer", middle_r2(ours), middle_r2(best) - 0.005)
        yield Bar("blackbox-size-against-best-peer", middle(ours, "size"), 0.5 * middle(best, "size"), "<=")
    yield Bar("blackbox-worst-r2", min(r2(r) for r in ours), -1.0)
    linear = {(r["case"], r["seed"]): r2(r) for r in chosen(records, BLACKBOX, LINEAR)}
    gains = [r2(r) - linear[r["case"], r["seed"]] for r in ours if (r["case"], r["seed"]) in linear]
    if gains:
        yield Bar("blackbox-worst-against-linear", min(gains), -0.02)


def speed(records: Records) -> Iterator[Bar]:
    """Seconds to a law, where it was recovered without noise."""
    found = [
        float(r["fit_seconds"])
        for r in records
        if r["system"] == OURS and r["noise"] == 0.0 and "truth_size" in r and solved(r)
    ]
    if found:
        yield Bar("median-seconds-to-a-law", median(found), 5.0, "<=")
