"""One function per kind of claim: results in, intervals by name out.

`claims.yaml` names the measure of each claim as MODULE.FUNCTION and gives it its arguments. The
bounds lie there, and what each quantity is called. Of all measures `evidence` is the results of
a profile, `experiment` the task or the data that the claim is about, and `split` that of its
evaluation.
"""
