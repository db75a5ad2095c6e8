"""The commands of `textcritic`, one module each: `add` describes it; the work is imported when it runs."""
