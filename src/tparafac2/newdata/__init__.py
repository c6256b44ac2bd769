"""What a fitted model says of data that it was not fitted to; nothing here knows an estimator."""

from tparafac2.newdata.appending import append
from tparafac2.newdata.forecasting import Asked, Band, Forecast, forecast
from tparafac2.newdata.refitting import fitted_scale, prepare_all, warm_start
