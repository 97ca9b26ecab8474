"""The console's pages: files, and nothing else."""
