"""Properties of expressions everywhere in a box, proved by interval arithmetic."""

from fouriertree.uncertainty.certificate.certificate import Certificate, certify
from fouriertree.uncertainty.certificate.slopes import Slope, slopes

__all__ = ["Certificate", "Slope", "certify", "slopes"]
