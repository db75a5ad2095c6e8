"""Files that people have, format by format: articles, records and structure read from them."""
