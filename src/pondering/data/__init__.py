"""Brings in real data and freezes each experiment's evaluation sets, with their data cards.

A card says all that figures and pages know of a task. What the data mean is the task's matter.
"""
