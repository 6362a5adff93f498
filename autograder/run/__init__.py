"""Many submissions: the gradebook of a whole run."""
