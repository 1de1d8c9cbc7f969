"""Numerical tolerances that more than one module uses, each with its meaning; all are relative."""

from __future__ import annotations

import numpy as np

#: a residual, or a term, of this size relative to the target is rounding of the arithmetic
ROUNDING = 1e-12
#: errors of an exact equation relative to the spread of the target: terms that cancel cost some digits
EXACT_FIT = 1e-11
#: and relative to the target itself
ROUNDED_TARGET = 8.0 * np.finfo(float).eps
#: sums of squared errors below this, relative to Σ w·y², differ by rounding only
EXACT_SQUARES = ROUNDING**2
