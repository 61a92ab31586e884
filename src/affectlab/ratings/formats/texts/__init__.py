"""Published texts with emotions, one module a data set."""
