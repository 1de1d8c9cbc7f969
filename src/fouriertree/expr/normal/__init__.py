"""Formulas in normal form: what `canonical` computes with, and how that is written as a formula again."""
