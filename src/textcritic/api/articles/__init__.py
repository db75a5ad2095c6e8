"""Articles of your own: from files of them to a study and its report. `result` gives Python the same."""
