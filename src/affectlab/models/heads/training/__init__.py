"""How heads are trained: the plan, one at a time or stacked, stage by stage."""
