"""Figures of equations and fits, one per file: functions that draw on Matplotlib axes, without pyplot."""

from fouriertree.plotting.fit import draw_fit, plot_fit
from fouriertree.plotting.front import plot_front
from fouriertree.plotting.response import plot_response
from fouriertree.plotting.tree import plot_tree

__all__ = ["draw_fit", "plot_fit", "plot_front", "plot_response", "plot_tree"]
