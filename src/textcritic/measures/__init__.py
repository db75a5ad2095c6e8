"""What is said of a source in numbers: a measure is declared once; its rows, scores, verdicts and sentences follow."""
