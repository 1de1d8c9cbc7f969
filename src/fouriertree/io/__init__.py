"""Files and text: table readers, atomic writes, strict JSON, and text that is safe to print on a terminal.

May import `errors`, and nothing else of the package.
"""
