"""How candidates are compared: losses, description length, poles, the archive of candidates.

May import `data`, `space`, `model`, and what is below them.
"""
