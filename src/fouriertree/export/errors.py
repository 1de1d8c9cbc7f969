"""The error of exporters."""


class ExportError(ValueError):
    """The model cannot be written in this language, or there is no such language; the message has the reason."""
