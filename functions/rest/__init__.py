"""The HTTP edge that the API functions share: strict reading, one table of errors, the shapes of answers."""
