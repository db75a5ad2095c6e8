"""The order of sentences: how much the sentences of a document are ordered as in real text."""

from textcritic.critics.order.critic import OrderCritic
from textcritic.critics.order.job import fit_order, read_sentences, score_order
from textcritic.critics.order.scoring import ORDER_SCHEMA, TOO_SHORT

__all__ = ["ORDER_SCHEMA", "TOO_SHORT", "OrderCritic", "fit_order", "read_sentences", "score_order"]
