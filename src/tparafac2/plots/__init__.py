"""Pictures. Nothing here needs a display or touches pyplot; matplotlib is loaded when a picture is made."""

from tparafac2.plots.patterns import pattern_heatmap

__all__ = ["pattern_heatmap"]
