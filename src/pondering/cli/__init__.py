"""The commands, each in a file of its name; `keys` is the stage of that name."""
