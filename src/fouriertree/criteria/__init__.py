"""How candidates are compared: losses, description length, poles, the archive of candidates."""
