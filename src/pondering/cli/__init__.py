"""The commands, and the stages of `dvc.yaml` among them."""
