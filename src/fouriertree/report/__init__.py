"""Self-contained HTML pages from one set of Jinja2 templates, and the report of a fit."""

from fouriertree.report.content import Band, Certificate, ReportContent
from fouriertree.report.page import html

__all__ = ["Band", "Certificate", "ReportContent", "html"]
