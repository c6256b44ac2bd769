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
    return _counted("flights.csv.gz", "route", "week")


def planes() -> Table:
    """Planes that left New York City at least 200 times in 2013: planes x destinations x months, counted.

    Returns
    -------
    Table

    Examples
    --------
    >>> planes().shape  # months, planes, destinations
    (12, 484, 91)
    """
    return _counted("planes.csv.gz", "plane", "month")


def _counted(name: str, rows: str, time: str) -> Table:
    import pandas as pd

    with as_file(files(__package__) / name) as path:
        frame = pd.read_csv(path, parse_dates=[time])
    return Table(frame, rows=rows, columns="dest", time=time, values="flights")
