"""FaceExpressions-70k: how different two facial expressions look."""
