"""The rehearsal of a study: small stand-ins in the real formats, a mirror that serves them, small values."""
