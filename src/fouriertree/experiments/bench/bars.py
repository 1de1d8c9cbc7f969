"""Goals of this package on the suites; rates have goals only where all cases of a suite were run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from statistics import median

from fouriertree.experiments.bars import Bar
from fouriertree.experiments.bench.names import (
    BLACKBOX,
    CLASSIC,
    COMPOSITIONS,
    EVERYDAY,
    FEYNMAN,
    FEYNMAN_SOLVED,
    FIRST_PRINCIPLES,
    GAUSSIAN,
    SRSD,
    STROGATZ,
    STUDENT,
    case_names,
    facts,
    generated_law,
)
from fouriertree.experiments.bench.summary import (
    kind_of_noise,
    middle,
    middle_r2,
    r2,
    share,
    solved,
    structure_share,
)
from fouriertree.experiments.bench.systems import LINEAR, OURS, PEERS
from fouriertree.experiments.store import Record

Records = Sequence[Record]

SOLVED, STRUCTURE = "solved", "structure"
#: fewest generated laws whose rate has a goal
LEAST_GENERATED = 100
#: number of laws that may be lost with Student's t noise in place of Gaussian noise of the same standard deviation
LOST_WITH_OUTLIERS = 3
#: goal of the median time to a law without noise, in seconds
SECONDS_TO_A_LAW = 0.5


@dataclass(frozen=True)
class Goal:
    """Goals of a suite by noise level: numbers of recovered laws; of generated laws and as `percent`, rates.

    `ahead` has goals of the lead over Operon.
    """

    suite: str
    measure: str
    disguise: bool
    least: Mapping[float, float]
    ahead: Mapping[float, float] = field(default_factory=dict)
    generated: bool = False
    percent: bool = False

    @property
    def name(self) -> str:
        parts = ["generated"] * self.generated + [self.suite] + ["disguised"] * self.disguise
        return "-".join(parts)

    def cases(self, records: Records) -> set[str]:
        """The cases that count: all cases of the suite, or those generated laws that were run."""
        if self.generated:
            return {r["case"] for r in records if generated_law(r["case"])}
        # A law that the operators cannot express is not counted.
        laws = facts(CLASSIC) if self.suite == CLASSIC else {}
        return {case for case in case_names(self.suite) if laws.get(case, {}).get("expressible", True)}

    def whole(self, records: Records, system: str, noise: float, kind: str = GAUSSIAN) -> list[Record]:
        """The records of all cases that count; none if one of them was not run, or too few laws were generated."""
        found = [
            record
            for record in chosen(records, self.suite, system, noise, kind)
            if record["disguise"] == self.disguise
        ]
        cases = self.cases(found)
        if len(cases) < (LEAST_GENERATED if self.generated else 1) or cases - {r["case"] for r in found}:
            return []
        return [record for record in found if record["case"] in cases]

    def recovered(self, records: Records) -> float:
        """The number of recovered laws, or their percentage; NaN without records, or without the measure."""
        if self.measure == SOLVED:
            rate = share([record for record in records if solved(record)], records)
        else:
            rate = structure_share(records)
        return rate * (100.0 if self.percent else len({record["case"] for record in records}))


GOALS = (
    Goal(FEYNMAN, SOLVED, False, {0.0: 43, 0.01: 36, 0.1: 24}),
    Goal(FEYNMAN, STRUCTURE, True, {0.0: 42, 0.01: 37, 0.1: 24}, {0.0: 7, 0.01: 7, 0.1: 1}),
    Goal(EVERYDAY, STRUCTURE, True, {0.0: 22, 0.01: 19, 0.1: 12}, {0.0: 5, 0.01: 5, 0.1: 1}),
    Goal(EVERYDAY, STRUCTURE, True, {0.0: 87, 0.01: 75, 0.1: 45}, generated=True, percent=True),
    Goal(COMPOSITIONS, STRUCTURE, True, {0.0: 70, 0.01: 55}, generated=True, percent=True),
    Goal(FEYNMAN_SOLVED, STRUCTURE, True, {0.0: 70, 0.01: 55}, percent=True),
    Goal(CLASSIC, SOLVED, False, {0.0: 43}),
    Goal(STROGATZ, SOLVED, False, {0.0: 6}),
    Goal(SRSD, SOLVED, False, {0.0: 27}),
)


def bars(records: Records) -> list[Bar]:
    """The bars of the suites that this package was run on."""
    return [*rates(records), *outliers(records), *measurements(records), *blackbox(records), *speed(records)]


def chosen(
    records: Records, suite: str, system: str, noise: float = 0.0, kind: str = GAUSSIAN
) -> list[Record]:
    wanted = (suite, system, noise, kind)
    return [r for r in records if (r["suite"], r["system"], r["noise"], kind_of_noise(r)) == wanted]


def rates(records: Records) -> Iterator[Bar]:
    """Recovered laws: against the goals, and, where no other lead is a goal, against every peer."""
    for goal in GOALS:
        for noise, least in goal.least.items():
            ours = goal.recovered(goal.whole(records, OURS, noise))
            if isnan(ours):
                continue
            name = f"{goal.name}-noise-{noise:g}"
            yield Bar(f"{name}-{goal.measure}", ours, least)
            for peer in PEERS:
                theirs = goal.recovered(goal.whole(records, peer, noise))
                if isnan(theirs):
                    continue
                if not goal.ahead:
                    yield Bar(f"{name}-above-{peer}", ours, theirs, ">")
                elif peer == "operon":
                    yield Bar(f"{name}-ahead-of-{peer}", ours - theirs, goal.ahead[noise])


def outliers(records: Records) -> Iterator[Bar]:
    """Laws recovered with heavy-tailed noise against those with Gaussian noise."""
    for goal in GOALS:
        if goal.suite == EVERYDAY and not goal.generated:
            gaussian, student = (
                goal.recovered(goal.whole(records, OURS, 0.01, kind)) for kind in (GAUSSIAN, STUDENT)
            )
            if not isnan(gaussian + student):
                name = f"{goal.name}-student-noise-0.01-{goal.measure}"
                yield Bar(name, student, gaussian - LOST_WITH_OUTLIERS)


def measurements(records: Records) -> Iterator[Bar]:
    """Measured quantities whose law has a known form."""
    laws = facts("tables")[FIRST_PRINCIPLES]["laws"]
    ours = [r for r in chosen(records, FIRST_PRINCIPLES, OURS) if r["case"] in laws]
    for case in laws:
        if found := [r for r in ours if r["case"] == case]:
            percent = 100.0 * share([r for r in found if solved(r)], found)
            yield Bar(case.replace("_", "-"), percent, 100.0)


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
        float(record["fit_seconds"])
        for goal in GOALS
        for record in goal.whole(records, OURS, 0.0)
        if "failed" not in record and (solved(record) or record.get("structure"))
    ]
    if found:
        yield Bar("median-seconds-to-a-law", median(found), SECONDS_TO_A_LAW, "<=")
