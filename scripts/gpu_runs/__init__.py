"""What `scripts/gpu_check` and `scripts/gpu_train` are made of: short runs on a machine with a GPU and no network."""
