"""Tables of the order of sentences: how much order there is, and the neighbours that belong together least."""

from textcritic.experiments.order.rows import PAIR_TEXT, order_rows, pair_rows
from textcritic.experiments.order.sheets import order_sheet, pairs_sheet
from textcritic.report.tables import recipe

TEXT = PAIR_TEXT

VALUES = recipe(order_rows, order_sheet)
TABLES = {"order": VALUES, "order-pairs": recipe(pair_rows, pairs_sheet)}
PAPER_TABLES = {"values": VALUES}
