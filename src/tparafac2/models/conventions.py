"""Scikit-learn's conventions, without its import, which takes longer than most fits."""

import inspect
from typing import Any, Self

from tparafac2.result import Result


class NotFittedError(ValueError, AttributeError):
    """A result was asked for before the fit.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> tp.CP(2).A_
    Traceback (most recent call last):
    ...
    tparafac2.models.conventions.NotFittedError: This CP is not fitted yet: call fit(X) before A_.
    """


class Estimator:
    """Parameters in the constructor, results in attributes that end in an underscore."""

    result_: Result

    @classmethod
    def _parameter_names(cls) -> list[str]:
        signature = inspect.signature(cls.__init__)
        return [name for name in signature.parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Constructor parameters and their values.

        Parameters
        ----------
        deep : bool
            Accepted for scikit-learn; there are no nested estimators.

        Returns
        -------
        dict
        """
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **parameters: Any) -> Self:
        """Change constructor parameters.

        Parameters
        ----------
        **parameters
            New values by name.

        Returns
        -------
        self
        """
        known = self._parameter_names()
        for name, value in parameters.items():
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r:.60}"
            for name, value in self.get_params().items()
            if defaults[name].default is inspect.Parameter.empty or not _same(value, defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __getattr__(self, name: str) -> Any:
        # Only reached where the attribute does not exist.
        if name.endswith("_") and not name.startswith("_"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet: call fit(X) before {name}.")
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def __sklearn_is_fitted__(self) -> bool:
        return "result_" in vars(self)


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))
