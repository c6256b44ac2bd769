"""Work in pieces, here and elsewhere, and its end by Ctrl-C."""

import os
import signal

from tparafac2.choosing.workers import Workers


def square(number):
    return number * number


def interrupt(number):
    """Work during which the user presses Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)
    return number


def test_pieces_come_back_in_order_from_any_number_of_processes():
    for n_jobs in (1, 2):
        with Workers(n_jobs, progress=False) as workers:
            assert workers.do(square, [(n,) for n in range(5)]) == [0, 1, 4, 9, 16]
            assert not workers.interrupted


def test_what_was_done_before_an_interrupt_is_kept_and_nothing_more_is_begun():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Workers(1, progress=False) as workers:
            assert workers.do(square, [(3,)]) == [9]
            assert workers.do(interrupt, [(1,), (2,)]) == [None, None]
            assert workers.interrupted
            assert workers.do(square, [(3,)]) == [None]
    finally:
        signal.signal(signal.SIGINT, before)
