"""What options of critics may be, where fits, Python functions and the command line share it."""

from typing import Literal

# Of a critic of mentions: how much of a count goes to lower orders, and tokens of a window at most.
Discount = Literal["kneser-ney", "as_released", "modified"]
DISCOUNTS: tuple[Discount, ...] = ("kneser-ney", "as_released", "modified")
MAXIMUM_ORDER = 9

# A correlated topic model is fitted from so many starts; the best fit is kept.
STARTS = 4
