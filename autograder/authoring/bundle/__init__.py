"""What students get: one zip with the starter code, the handout, the visible checks, and Softmark itself."""
