"""Statistical tendencies of text (Meister and Cotterell 2021): what is counted of documents, and laws fitted to it."""
