"""Contents of reports: one with all parts, a minimal one, and one with names that contain markup."""

from dataclasses import replace

import numpy as np
import pandas as pd

from fouriertree import Model, parse
from fouriertree.report import Band, Certificate, ReportContent

EQUATIONS = ("4.5", "x1 + 2.7", "0.5*x1 + 4*sin(x0)", "0.5*x1 + 4*sin(x0) - 0.01*x2^2/exp(x0)")
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "$x_1$ & 100% </title></svg><svg onload=alert(1)>" + " long" * 60 + "\x00\u202e",
)


def sample(names=("angle", "speed", "mass_kg"), target="acceleration", title="Pendulum", n_rows=200):
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3.0, (n_rows, 3))
    models = [Model.from_expression(parse(text), tuple(names)) for text in EQUATIONS]
    y = models[2].predict(X) + rng.normal(0.0, 0.1, n_rows)
    losses = [float(np.mean((y - model.predict(X)) ** 2)) for model in models]
    equations = pd.DataFrame(
        {
            "n_terms": [model.n_terms for model in models],
            "complexity": [model.complexity for model in models],
            "loss": losses,
            "training_loss": losses,
            "validation_loss": 1.1 * np.array(losses),
            "description_length": [10.0, 5.0, -300.0, -290.0],
            "r2": 1.0 - np.array(losses) / np.var(y),
            "equation": [model.text(6) for model in models],
        }
    )
    bare = ReportContent(title, target, tuple(names), equations, 2, models, X, y)
    table = pd.DataFrame({"feature": list(names), "share": [1.0, 0.98, 0.02]})
    return replace(
        bare,
        intervals=pd.DataFrame({"term": list(names), "lower": [0.4, 3.9, 0.0], "upper": [0.6, 4.1, np.nan]}),
        band=Band(0.2, 0.9),
        certificate=Certificate(f"finite for every {names[0]}", f"No pole.\nNot even at {names[1]}.", table),
        stability={f"refits of {target}": table, "features": table},
        provenance={"seed": 7, "data": "0123abcd", names[2]: "why", "parameters": {names[0]: names[1]}},
        exports={"Python": f"# {names[0]}\nprint(1 < 2)\n", "C": "return 1;"},
    )


def bare():
    """Only the equations."""
    full = sample()
    return ReportContent(full.title, full.target, full.names, full.equations, 0, full.models)


def hostile(n_rows=200):
    return sample(HOSTILE, "</title><script>alert(2)</script>", "<h1>\"'&", n_rows)
