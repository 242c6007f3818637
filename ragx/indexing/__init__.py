"""Keeps the index equal to what a full build of the tree would give: `plan` says what that takes, `run` does it."""
