"""Agreement beyond chance: kappa of pairs, Fleiss, Gwet, Brennan and Prediger."""
