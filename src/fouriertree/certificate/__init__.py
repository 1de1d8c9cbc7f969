"""What is true of a formula everywhere in a box, proved by interval arithmetic."""

from fouriertree.certificate.certificate import Certificate, certify
from fouriertree.certificate.slopes import Slope, slopes

__all__ = ["Certificate", "Slope", "certify", "slopes"]
