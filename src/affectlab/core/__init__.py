"""What every room stands on: errors, estimates, words, tables of settings, resampling."""
