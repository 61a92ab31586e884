"""What our estimators have beyond those of scikit-learn."""

from __future__ import annotations

from typing import Any

from affectlab.core.errors import InputError

__all__ = ["check_parameters"]


def check_parameters(estimator: Any) -> None:
    """Check parameters by the constraints that an estimator declares, as scikit-learn does.

    Raises
    ------
    InputError
        When one is out of range.
    """
    from sklearn.utils._param_validation import InvalidParameterError

    try:
        estimator._validate_params()
    except InvalidParameterError as error:
        raise InputError(str(error)) from None
