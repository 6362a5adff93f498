"""The Gradescope platform: its results.json."""
