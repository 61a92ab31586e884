"""EmoNet-Face: 40 emotions of synthetic faces, by experts and by models."""
