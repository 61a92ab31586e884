"""Ways to learn differences from samples: ridge, support vectors, siamese networks."""
