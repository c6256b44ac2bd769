"""Whether a fit to data with missing entries ended at a minimum."""

import numpy as np


def filled_in(model, X, **given):
    """Fit data whose missing entries are as the model says, with the same terms, from where the model ended.

    A minimum of the objective over what was observed is one of this objective too, and they are equal there.
    """
    whole = np.where(np.isnan(X), model.reconstruct(), X)
    settings = model.get_params() | {"init": (model.A_, model.B_, model.C_)}
    if settings.get("smoothness") is not None:  # relative to the norm of what was observed
        power = 2 - 2 / sum(name.startswith("lambda_") for name in settings)
        settings["smoothness"] *= (np.sqrt(np.nansum(X**2)) / np.linalg.norm(whole)) ** power
    return type(model)(**settings).fit(whole, **given)
