"""How heads are trained: the settings of a stage, where a head stands, heads as a stack."""
