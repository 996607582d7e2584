"""Trains an experiment, from its parameters to a file for each finished replica.

1. `stage` gives every planned replica its hash (`replica`, `program`) and keeps those that have a
   file in `data/replicas` or published results (`replicas_csv`).
2. The missing ones are cut by memory and cores (`cut`, which also tells how long the profile
   `paper` would take) into shards: replicas of one mechanism that train as one stack (`shard`).
3. Shards train side by side in processes of this machine (`processes`) or on a Ray cluster (`ray`),
   each from its last checkpoint (`checkpoint`). What they tell goes to MLflow and a bar (`news`).
4. `build` makes a shard's trainer, whose loop is `trainer`. It takes a batch for each seed
   (`batches`; `draws` where the device draws them) and updates all replicas by Adam (`adam`). It
   may lower rates and stop replicas (`plateau`).
5. A finished replica becomes one file named by its hash, and from these files the stage writes the
   networks, curves and records that evaluation and report read (`outs`).

Beside that way, `fit` refuses values that do not suit a task, `path` chooses how updates are
computed, `kernels` are the loop's updates on a GPU, and `stacked` is the library's `Sweep`. A
training knows its task and its network by their interfaces alone; nothing here evaluates or draws.
"""
