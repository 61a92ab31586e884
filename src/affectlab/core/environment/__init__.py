"""What is installed here, and how what is missing is installed."""
