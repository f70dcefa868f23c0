"""The verbs of scripts/bench, one module each, and what they share."""
