"""To Err Like Human: measures that know which mistakes are worse."""
