"""The colours of figures; apart from `style`, because reading a report needs no Matplotlib."""

# The report replaces these five colours by its own variables, so that figures follow its light and dark schemes.
INK, MUTED, RULE, FAINT, PAPER = "#1c2330", "#5c6675", "#c9ced6", "#eceef2", "#fdfdfe"
# From Okabe and Ito's colour-blind safe set, a little darkened for small marks.
BLUE, ORANGE, GREEN = "#1f6fb2", "#b54c0b", "#1a7a5d"
# In place of a setting: a generator that is there to be bad.
BASELINE = "baseline"
SETTING_COLOURS = {"w-title": BLUE, "wo-title": ORANGE, BASELINE: MUTED}
# The colours of the lines of several sources, in their order; with more lines, they repeat from the first.
LINE_COLOURS = (BLUE, ORANGE, GREEN, "#8a4fa3", "#8c7208", "#b0355f", "#4f6f7a")
