"""The measures of sources: each is declared once; its rows, scores, verdicts and sentences follow from that."""
