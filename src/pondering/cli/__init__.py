"""The commands, each in a file of its name; `keys` is the stage of that name.

The top floor: nothing imports from here.
"""
