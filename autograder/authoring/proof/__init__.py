"""What an assignment is proved by: who is graded, what each must get, and what of an earlier proof still holds."""
