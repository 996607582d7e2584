"""One function per kind of claim: results in, intervals by name out.

`claims.yaml` names the measure of each claim as MODULE.FUNCTION and gives it its arguments. The
bounds lie there, and what each quantity is called. Of all measures `evidence` is the results of
a profile, and `experiment` the task or the data that the claim is about. Where a measure takes
them, `tau_at_most` is the largest time penalty that the claim speaks of, none (τ = 0) left out, and
`lambda_p` its prior. A network with an error below `solved_below` has solved the task.
"""
