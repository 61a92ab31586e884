"""Text classifiers on encoders of the transformers library, fine-tuned or frozen."""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily

if TYPE_CHECKING:
    from affectlab.models.text.encoders.choice import (
        ChoiceEmbeddingTextClassifier as ChoiceEmbeddingTextClassifier,
        ChoiceTextClassifier as ChoiceTextClassifier,
    )
    from affectlab.models.text.encoders.pretrained import (
        context_of as context_of,
        encode as encode,
        fingerprint_of_tokenizer as fingerprint_of_tokenizer,
        load_encoder as load_encoder,
        load_tokenizer as load_tokenizer,
    )
    from affectlab.models.text.encoders.transformer import collate as collate


if not TYPE_CHECKING:
    # Load what other rooms use when it is first used.
    __getattr__, __dir__ = lazily(__name__, [])
