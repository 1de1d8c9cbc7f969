"""The normal form that `canonical` computes with, and its conversion back to tokens."""
