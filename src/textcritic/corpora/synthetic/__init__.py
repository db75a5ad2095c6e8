"""Made-up corpora whose truth is known: grammars, languages, processes."""
