"""What a fit says of data that it has not seen: new rows, and entries that are missing."""
