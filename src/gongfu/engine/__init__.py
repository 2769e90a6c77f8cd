"""The loop: a session takes prompts, asks the model, runs its calls and records every fact."""
