"""What writes or checks documents that follow from the code, and the console's files that aren't ours."""
