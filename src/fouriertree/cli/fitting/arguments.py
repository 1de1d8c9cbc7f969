"""What was asked of `fit`, as plain data that a run folder holds, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fouriertree.cli.fitting import options as o
from fouriertree.cli.fitting.outcome import Files
from fouriertree.io.tables.source import DASH

if TYPE_CHECKING:
    from fouriertree.cli.fitting.columns import Choice
    from fouriertree.cli.fitting.holdout import Unseen


@dataclass(frozen=True)
class FitRequest:
    """A table, which of its columns and rows to use, how to search, and where to write."""

    data: Path
    choice: Choice
    settings: dict[str, Any]
    files: Files
    unseen: Unseen | None = None
    sheet: str | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)  #: for the run folder


@dataclass(frozen=True)
class FitArguments:
    """The options of `fit` as they were given; the names are those of its parameters."""

    data: Path
    target: str | None = None
    column: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    weights: str | None = None
    sheet: str | None = None
    search: str = o.SearchName.hybrid
    projector: str | None = None
    time_limit: float | None = None
    max_evaluations: int | None = None
    memory_limit: float | None = None
    seed: int | None = None
    jobs: int = 1
    operators: str | None = None
    max_terms: int | None = None
    max_size: int | None = None
    guess: tuple[str, ...] = ()
    loss: str = o.LossName.squared
    quantile: float | None = None
    model_selection: str = o.Selection.mdl
    validation: float | None = None
    validation_last: bool = False
    validation_file: Path | None = None
    output: Path | None = None
    plot: Path | None = None
    run_dir: Path | None = None

    # To and from a run folder -------------------------------------------------------------------------------
    def to_json(self) -> dict[str, Any]:
        """Files by their whole path: a run may be resumed from another folder."""

        def plain(value: Any) -> Any:
            if isinstance(value, Path):
                return str(value if value == DASH else value.absolute())
            return list(value) if isinstance(value, tuple) else value

        return {name: plain(value) for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> FitArguments:
        """TypeError or ValueError for what `to_json` would not have written."""
        known = {f.name: f for f in fields(cls)}
        values: dict[str, Any] = {}
        for name, value in data.items():
            kind = str(known[name].type) if name in known else "nothing"
            if kind == "nothing":
                raise ValueError(f"there is no option {name!r}")
            if "Path" in kind and value is not None:
                value = Path(value)
            values[name] = tuple(map(str, value)) if kind.startswith("tuple") else value
        return cls(**values)

    # What follows -------------------------------------------------------------------------------------------
    def request(self) -> FitRequest:
        """The same, checked, as a fit needs it; InputError for what does not go together."""
        from fouriertree.cli.fitting import checks
        from fouriertree.cli.fitting.columns import Choice
        from fouriertree.cli.fitting.holdout import Unseen
        from fouriertree.cli.fitting.settings import search_settings

        search, loss = o.SearchName(self.search), o.LossName(self.loss)
        projector = None if self.projector is None else o.ProjectorName(self.projector)
        unseen = Unseen(self.validation, self.validation_last, self.validation_file)
        unseen.check(self.data)
        tables = [self.data, *([self.validation_file] if self.validation_file else [])]
        checks.check_outputs(tables, self.output, self.plot)
        checks.check_search(search, projector, self.max_terms, self.max_size, list(self.guess))
        checks.check_loss(loss, self.quantile)
        limited = self.time_limit is not None or self.max_evaluations is not None
        settings = {
            **search_settings(search, projector, self.max_terms, self.operators, limited),
            "max_size": o.MAX_SIZE if self.max_size is None else self.max_size,
            "guesses": list(self.guess),
            "loss": str(loss),
            "quantile": o.QUANTILE if self.quantile is None else self.quantile,
            "model_selection": str(self.model_selection),
            "time_limit": self.time_limit,
            "max_evaluations": self.max_evaluations,
            "memory_limit": self.memory_limit,
            "random_state": self.seed,
            "n_jobs": checks.check_jobs(self.jobs),
            "run_dir": self.run_dir,
        }
        choice = Choice(self.target, self.column, self.ignore, self.weights)
        files = Files(self.output, self.plot)
        return FitRequest(self.data, choice, settings, files, unseen, self.sheet, {"command": self.to_json()})
