"""Tables of importance sampling: estimates (paper, Table 1), strict bounds (Table 2), curves, texts, settings."""

from textcritic.experiments.importance.names import ImportanceNames
from textcritic.experiments.importance.rows import (
    KEYS,
    TEXT,
    bound_rows,
    curve_rows,
    estimate_rows,
    setting_rows,
    text_rows,
)
from textcritic.experiments.importance.sheets import (
    bounds_sheet,
    curves_sheet,
    estimates_sheet,
    paper_bounds_sheet,
    paper_estimates_sheet,
    settings_sheet,
    texts_sheet,
)
from textcritic.report.tables import recipe

__all__ = ["KEYS", "NAMES", "PAPER_TABLES", "TABLES", "TEXT"]

NAMES = ImportanceNames.of
TABLES = {
    "estimates": recipe(estimate_rows, estimates_sheet),
    "bounds": recipe(bound_rows, bounds_sheet),
    "curves": recipe(curve_rows, curves_sheet),
    "texts": recipe(text_rows, texts_sheet),
    "settings": recipe(setting_rows, settings_sheet),
}
PAPER_TABLES = {
    "estimates": recipe(estimate_rows, paper_estimates_sheet),
    "beams": recipe(bound_rows, paper_bounds_sheet),
}
