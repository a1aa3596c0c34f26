"""The methods that the paper compares GOLEM with, and the sanity checks that every comparison needs.

Each is a scikit-learn estimator with the attributes of `Golem`; `base.py` lists them.
"""

from golem.baselines.direct_lingam import DirectLiNGAM
from golem.baselines.fgs import FGS
from golem.baselines.notears import Notears
from golem.baselines.pc import PC
from golem.baselines.sort_regress import SortRegress

__all__ = ["FGS", "PC", "DirectLiNGAM", "Notears", "SortRegress"]
