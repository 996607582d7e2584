"""Shapes that several figures share: methods side by side, curves, the traces of one replica."""
