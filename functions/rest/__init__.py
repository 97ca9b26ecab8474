"""The HTTP edge that the API's functions share: strict parsing, one table of errors, the shapes of answers."""
