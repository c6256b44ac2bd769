"""Small data sets that come with the package."""

from importlib.resources import as_file, files

from tparafac2.data import Table


def flights() -> Table:
    """Flights from New York City in 2013: routes (carrier and origin) x destinations x weeks, counted.

    Returns
    -------
    Table

    Examples
    --------
    >>> flights().shape  # weeks, routes, destinations
    (52, 35, 105)
    """
    import pandas as pd

    with as_file(files(__package__) / "flights.csv.gz") as path:
        frame = pd.read_csv(path, parse_dates=["week"])
    return Table(frame, rows="route", columns="dest", time="week", values="flights")
