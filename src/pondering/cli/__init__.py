"""The commands, each in a file of its name. The top floor: nothing imports from here."""
