"""What programs write that ask or run models."""
