"""The functions of `import textcritic`, a module each, and what they take and return."""
