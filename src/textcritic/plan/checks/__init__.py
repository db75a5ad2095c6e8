"""Options that are checked before any job starts; importing them loads neither numpy nor pyarrow nor torch.

Every start of Snakemake checks the whole configuration, so what it needs for that is in light modules. Here is what
belongs to no kind of experiment; the others are `options` and the like of their rooms. `entries.REGISTRIES` names the
checks of each registry.
"""
