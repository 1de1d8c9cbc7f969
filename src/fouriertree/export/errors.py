"""What an exporter says when it must refuse."""


class ExportError(ValueError):
    """The formula cannot be written in that language, or there is no such language; the message says why."""
