"""Statistical tendencies: whether samples keep to those of real text (Meister and Cotterell 2021)."""
