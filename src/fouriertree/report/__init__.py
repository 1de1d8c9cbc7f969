"""A fit as one page of HTML that needs nothing but itself."""

from fouriertree.report.content import Band, Certificate, ReportContent
from fouriertree.report.page import html

__all__ = ["Band", "Certificate", "ReportContent", "html"]
