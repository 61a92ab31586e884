"""GoEmotions: comments of Reddit, 27 emotions and neutral."""
