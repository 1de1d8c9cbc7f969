"""The outputs of a fit: model file, plot, report, printed table and JSON document."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fouriertree.cli.files import save_model, write_atomically, writing
from fouriertree.cli.output import note, say
from fouriertree.cli.show import show
from fouriertree.errors import InputError
from fouriertree.fit.options import RUNS

if TYPE_CHECKING:
    from fouriertree.cli.fitting.columns import HoldoutScores, Sample
    from fouriertree.estimators.regressor import SymbolicRegressor


def resume_command(run: Path) -> str:
    """The command that resumes the run in a folder."""
    elsewhere = "" if run.parent == RUNS else f" --run-dir {shlex.quote(str(run.parent))}"
    return f"fouriertree runs resume {run.name}{elsewhere}"


@dataclass(frozen=True)
class Outcome:
    """A fitted regressor, its training rows, and its scores on the hold-out set; `written` are files by kind."""

    regressor: SymbolicRegressor
    sample: Sample
    holdout: HoldoutScores | None
    written: dict[str, str | None] = field(default_factory=lambda: {"model": None, "plot": None})

    @property
    def target(self) -> str:
        return str(self.sample.y.name)

    def finish(self, model: Path | None, plot: Path | None, report: Path | None = None) -> None:
        """Write the files and print the table: files first, since stdout may fail, and each whatever the others do."""
        from fouriertree.runs.folder import MODEL
        from fouriertree.runs.journal import UNFINISHED

        done: list[str] = []
        failures: dict[Path, Exception] = {}
        for path, write in ((model, self.save), (plot, self.draw), (report, self.report)):
            if path is not None:
                # An interrupt is no Exception, and ends the command at once.
                try:
                    done.append(f"{write(path)} written to {path}")
                except Exception as error:
                    failures[path] = error
        show(self.regressor, self.target, self.holdout)
        for sentence in self.regressor.guess_notes_:
            note(sentence)
        if done:
            say(*done)
        run = self.run_folder
        if failures:
            sentences = list(map(str, failures.values()))
            if model in failures and run is not None and (run / MODEL).is_file():
                sentences.append(f"the model is in {run / MODEL}")
            bug = next((error for error in failures.values() if not isinstance(error, InputError)), None)
            raise bug or InputError("; ".join(sentences))
        if run is not None and self.regressor.stop_reason_ in UNFINISHED:
            note(f"to resume it: {resume_command(run)}")

    @property
    def run_folder(self) -> Path | None:
        """The run folder of the fit."""
        return getattr(self.regressor, "run_path_", None)

    def save(self, path: Path) -> str:
        save_model(path, self.regressor, self.target)
        self.written["model"] = str(path)
        return "model"

    def draw(self, path: Path) -> str:
        from fouriertree.plotting import draw_fit

        plot = draw_fit(
            self.sample.y.to_numpy(), self.regressor.predict(self.sample.X), self.regressor.equations_,
            self.regressor.best_index_, self.target, path.suffix.lower().lstrip("."),
        )  # fmt: skip
        write_atomically(path, plot)
        self.written["plot"] = str(path)
        return "picture"

    def report(self, path: Path) -> str:
        with writing(path):
            self.regressor.report(path, self.target)
        return "report"

    def document(self) -> dict[str, Any]:
        """The JSON document; its `files` are filled in as they are written."""
        regressor, best = self.regressor, self.regressor.best_index_
        holdout = self.holdout
        rows = [{"row": i, **row} for i, row in enumerate(regressor.equations_.to_dict("records"))]
        scores = holdout.scores if holdout else [None] * len(rows)
        for row, score in zip(rows, scores, strict=True):
            row |= {"unseen_r2": score and score.r2, "unseen_rmse": score and score.rmse}
        unseen = holdout and {"rows": holdout.n_rows, **holdout.scores[best]._asdict()}
        history = ("stop_reason", "seed", "traverses", "evaluations", "seconds")
        return {
            "target": self.target,
            "columns": list(self.sample.X.columns),
            "rows": len(self.sample),
            "chosen": best,
            "equation": rows[best]["equation"],
            "equations": rows,
            "guess_notes": self.regressor.guess_notes_,
            "unseen": unseen,
            **{name: getattr(regressor, f"{name}_") for name in history},
            "run": None if self.run_folder is None else str(self.run_folder),
            "files": self.written,
        }
