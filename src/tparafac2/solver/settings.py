"""How the solver works, apart from what it minimises."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Settings of the one loop.

    Parameters
    ----------
    max_iter : int
        Most outer iterations.
    tol : float
        Stop when the objective's relative spread over the last `window` iterations is below this ...
    feasibility_tol : float
        ... and every feasibility gap is below this.
    window : int
        How many iterations the stop rule looks back.
    inner : int
        ADMM iterations per block and outer iteration.
    inner_tol : float
        Leave the inner iterations early when every relative gap is below this (0: never).
    weight : float
        Penalty weight s: rho = s * trace / R. The PARAFAC2 set is not convex, and 1 is too small for data
        that violate it.
    weight_floor : float
        A slice without strength keeps this share of the mean weight, or it would freeze.
    adapt_weight : bool
        Double the weight of a start whose gap stalls.
    absorb : bool
        Solve quadratic terms exactly in the least-squares step, and non-negative rows by an active-set
        method, instead of giving each an auxiliary variable.
    balance : bool
        Move the scale of each component to its best split over the modes, in closed form.
    momentum : bool
        Nesterov extrapolation with restarts.

    Examples
    --------
    >>> Settings().absorb, Settings.paper().absorb
    (True, False)
    """

    max_iter: int = 2000
    tol: float = 1e-8
    feasibility_tol: float = 1e-5
    window: int = 10
    inner: int = 5
    inner_tol: float = 0.0
    weight: float = 2.0
    weight_floor: float = 0.01
    adapt_weight: bool = True
    absorb: bool = True
    balance: bool = True
    momentum: bool = True

    @classmethod
    def paper(cls, max_iter: int = 2000, tol: float = 1e-8, feasibility_tol: float = 1e-5) -> "Settings":
        """Algorithms 1 and 2 of the paper as they stand, without any addition."""
        return cls(
            max_iter=max_iter,
            tol=tol,
            feasibility_tol=feasibility_tol,
            inner_tol=1e-5,
            weight=1.0,
            weight_floor=1e-12,  # only against division by zero
            adapt_weight=False,
            absorb=False,
            balance=False,
            momentum=False,
        )
