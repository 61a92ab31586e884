"""What programs for experiments write, in which each row is a trial."""
