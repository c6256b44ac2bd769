"""Smoothness, rigidity and rank chosen by hidden entries and halves of the rows."""

from tparafac2.choosing.parts import Hidden, Parts, Shown
