"""The web app that asks people about texts (model criticism paper, appendix H), and its store; the door is `run`."""

# Other programs with which texts and answers are exchanged.
LABEL_STUDIO, POTATO = FORMATS = ("label-studio", "potato")
