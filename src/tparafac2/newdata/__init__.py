"""What a fit says of data that it has not seen: new rows and times, and entries that are missing."""

from tparafac2.newdata.appending import append
from tparafac2.newdata.forecasting import Asked, Band, Forecast, forecast
from tparafac2.newdata.refitting import fitted_scale, prepare_all, warm_start
from tparafac2.newdata.residuals import data_of_fit

__all__ = ["Forecast"]
