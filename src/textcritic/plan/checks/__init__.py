"""Options that are checked before any job starts; importing them loads neither numpy nor pyarrow nor torch.

Every start of Snakemake checks the whole configuration, so what it needs for that lives here, apart from the rooms that
do the work.
"""
