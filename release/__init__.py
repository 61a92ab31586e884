"""What is done before a release: the audit of what users install with it."""
