"""Text classifiers on encoders of the transformers library, fine-tuned or frozen."""
