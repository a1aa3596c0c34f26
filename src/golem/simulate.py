"""Random graphs, models and data sets; a short path to `golem.model.simulation`."""

from golem.model.simulation import (
    Simulation,
    erdos_renyi,
    random_dag,
    random_sem,
    random_weights,
    scale_free,
    simulate,
)

__all__ = ["Simulation", "erdos_renyi", "random_dag", "random_sem", "random_weights", "scale_free", "simulate"]
