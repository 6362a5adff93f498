"""What people read: diagnosis, hints, and how a grade is rendered."""
