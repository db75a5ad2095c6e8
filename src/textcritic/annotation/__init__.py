"""The web app that asks people about texts (model criticism paper, appendix H), and its store; the door is `run`."""
