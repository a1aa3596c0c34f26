"""The settings of a fit: checks of each parameter and of all together, and the objects that words stand for."""

from __future__ import annotations

import dataclasses
import functools
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from golem.data.inputs import require_shape
from golem.data.missing import require_choice
from golem.data.robust import ROBUST, RobustChoice
from golem.data.series_reading import SeriesChoice
from golem.data.table import INTERCEPTS, INTERVENTIONS
from golem.data.table_reading import STATISTICS, Statistics
from golem.gradient.adam import Adam
from golem.gradient.gradient_solver import GradientSolver
from golem.gradient.paper_recipe import NOISE_MODELS, NoiseModel
from golem.gradient.solvers import SOLVERS
from golem.runtime.devices import Placement, gpu_is_there
from golem.runtime.problems import Bare, Parameter, ProblemError, Remedy, Set, Text
from golem.runtime.types import Matrix
from golem.score.acyclicity import Acyclicity
from golem.score.node_score import NodeScore
from golem.score.objective import PAPER_PENALTIES
from golem.score.score_settings import DISCRETE, ScoreSettings
from golem.score.sparsity import L0, L1, Sparsity
from golem.score.table_score import SCORES
from golem.search.solver import Order

# `NOISE_MODELS` of `golem.gradient.paper_recipe` has the words for noise models.
STARTS = ("zeros", "ev")
_CHOICES = {
    "cycles": (None, "paper", "gentle", "none"),
    "dtype": ("float64", "float32"),
    "robust": ROBUST,
    "shape": ("auto", "off"),
    "evidence": ("auto", "full", "fast"),
    "statistics": STATISTICS,
}
PAPER_THRESHOLD = 0.3
# Parameters of solvers that follow gradients.
OF_GRADIENTS = ("lambda_dag", "threshold", "acyclicity", "cycles", "max_iter", "sparsity")
# Below this number of columns a GPU is not faster than a few cores in a search (benchmarks/speed.md).
_SEARCH_ON_GPU_FROM = 1000


@dataclass(frozen=True, eq=False)
class Settings:
    """The parameters of `golem.Golem`, which describes them."""

    noise: Any
    solver: Any
    lambda_sparsity: Any
    lambda_dag: Any
    effort: Any
    threshold: Any
    max_iter: Any
    init: Any
    acyclicity: Any
    sparsity: Any
    cycles: Any
    knowledge: Any
    missing: Any
    robust: Any
    shape: Any
    evidence: Any
    intervention: Any
    intercepts: Any
    score_function: Any
    statistics: Any
    lags: Any
    time: Any
    unit: Any
    random_state: Any
    device: Any
    dtype: Any
    time_limit: Any
    callback: Any

    def check(self) -> Settings:
        """Raise a ValueError if settings contradict each other, whatever the table is; return the settings."""
        named(NOISE_MODELS, self.noise, "noise")
        self.chosen_solver  # noqa: B018 - it checks the settings of the solver
        self.edge_penalty  # noqa: B018
        if self.score_function not in ("auto", "gaussian"):
            self._require_categories_allowed(self.score_function)
        require_choice(self.missing)
        if self.series:
            self._require_series_allowed()
        return self

    def require_for(self, environments: bool) -> None:
        """Raise a ValueError for settings that have no meaning with, or without, environments."""
        if environments:
            self._require_environments_allowed()
            return
        for name, default in (("intervention", "soft"), ("intercepts", "separate")):
            if (value := getattr(self, name)) != default:
                raise ProblemError.of(
                    "{given} needs {environments=...} and {targets=...}. Add both, or remove {other}.",
                    given=Set(name, value),
                    other=Set(name),
                )

    def require_score(self, score: NodeScore) -> None:
        """Raise a ValueError for settings that have no meaning with the score of a table."""
        if score.name != "gaussian":
            missing = score.table.missing
            self._require_categories_allowed(score.name, missing is None or not missing.cells)

    @functools.cached_property
    def chosen_solver(self) -> Order | GradientSolver:
        """The solver with these settings; raise a ValueError for settings that do not fit."""
        solver: Order | GradientSolver = (
            named({"order": Order(), **SOLVERS}, self.solver, "solver") if isinstance(self.solver, str) else self.solver
        )
        self._require_valid_values()
        self._require_useful(solver)
        self._require_usable_device(solver)
        settings = {name: plain_number(getattr(self, name)) for name in ("max_iter", "time_limit", "effort")}
        given = {name: value for name, value in settings.items() if value is not None}
        return dataclasses.replace(solver, **given)  # type: ignore[type-var]

    @property
    def series(self) -> SeriesChoice:
        """What is known about the order of the rows."""
        return SeriesChoice(self.lags, self.time, self.unit)

    def _require_series_allowed(self) -> None:
        """Raise a ValueError for settings that have no meaning with lags or units."""
        self.series.check()
        what = "lags" if self.lags is not None else "units"
        if not self.counts_edges:
            raise ProblemError(
                Set("solver", self.solver), f" cannot be used with {what}. Use ", Set("solver", "order"), "."
            )
        if self.noise == "ev":
            raise ProblemError.of(
                "{noise='ev'} cannot be used with {what}: every variable has its own noise variance. Use "
                "{noise='auto'}.",
                what=what,
            )
        if isinstance(self.init, str):
            raise ValueError(f"init={self.init!r} cannot be used with {what}. Use an order or a graph.")
        if self.score_function in DISCRETE or self.score_function == "mixed":
            raise ProblemError.of(
                "{score_function=} cannot be used with {what}, which need numbers. Use {score_function='auto'}.",
                score_function=self.score_function,
                what=what,
            )

    @property
    def counts_edges(self) -> bool:
        """Whether the solver counts edges, and so gives a graph without rounding."""
        return self.solver == "order" or isinstance(self.solver, Order)

    @functools.cached_property
    def edge_penalty(self) -> L0:
        """The penalty per edge of the order solver; for other solvers the default, for comparison."""
        if self.counts_edges and self.lambda_sparsity is not None:
            return L0(plain_number(self.lambda_sparsity))
        # With lags, every node has many candidates that are nearly copies of each other.
        return L0("ebic") if self.lags is not None and self.counts_edges else L0()

    @property
    def uses_shape(self) -> bool:
        """Whether directions by the shape of the noise are allowed.

        With noise="ev" the assumption of equal variances decides the directions, and the graphs of Adam and L-BFGS are
        those of the paper.
        """
        return self.shape == "auto" and self.counts_edges and self.noise != "ev"

    @property
    def robust_moments(self) -> RobustChoice:
        """Whether to learn from ranks; "auto" does not apply to equal variances, nor to the solvers of the paper."""
        plain = self.robust == "auto" and (self.noise == "ev" or not self.counts_edges)
        chosen: RobustChoice = "off" if plain else self.robust
        return chosen

    @property
    def table_statistics(self) -> Statistics:
        """How a table is read; only the search with free noise variances needs no covariance."""
        only_dense = self.noise == "ev" or not self.counts_edges or self.knowledge is not None or self.init is not None
        chosen: Statistics = "dense" if only_dense and self.statistics == "auto" else self.statistics
        return chosen

    @property
    def score_settings(self) -> ScoreSettings:
        """The settings of the score."""
        return ScoreSettings(
            self.score_function, self.noise, self.edge_penalty, self.intervention, self.intercepts, self.missing
        )

    @property
    def noise_model(self) -> NoiseModel:
        """The likelihood of the gradient solvers, with the user's penalties in place of the paper's."""
        penalties = {name: plain_number(getattr(self, name)) for name in ("lambda_sparsity", "lambda_dag")}
        given = {name: value for name, value in penalties.items() if value is not None}
        return dataclasses.replace(NOISE_MODELS[self.noise], **given)

    def factors_covariance(self, n: int, d: int) -> bool:
        """Return whether the search factors the whole covariance, and so finds columns that depend on others."""
        whole = self.noise == "ev" and self.init is None and self.dtype == "float64"
        return whole and self.counts_edges and n > d

    def placement(self, d: int) -> Placement:
        """Return the device; "auto" is a GPU if it is faster."""
        if self.device != "auto":
            return Placement(self.device, self.dtype)
        least = self._gpu_from(self.chosen_solver)
        faster = least is not None and d >= least and gpu_is_there()
        return Placement("cuda" if faster else "cpu", self.dtype)

    def _gpu_from(self, solver: Order | GradientSolver) -> int | None:
        """Return the number of columns from which on a GPU is faster; None if the solver cannot use one."""
        if isinstance(solver, Order):
            return _SEARCH_ON_GPU_FROM if self.noise == "ev" else None
        return solver.gpu_from

    def start_matrix(self, d: int) -> Matrix | None:
        """Return the weights that a gradient solver starts from, or None if GOLEM-EV provides them."""
        init = ("zeros" if self.noise == "ev" else "ev") if self.init is None else self.init
        if isinstance(init, str):
            if init not in STARTS:
                raise ValueError(f"init must be one of {', '.join(STARTS)} or a (d, d) array; got {init!r}.")
            return None if init == "ev" else np.zeros((d, d))
        start = np.array(init, dtype=float)
        require_shape(start, d, "the start matrix")
        if not np.isfinite(start).all():
            raise ValueError("The start matrix has NaN or infinite entries.")
        if np.diagonal(start).any():
            raise ValueError("The start matrix has nonzero diagonal entries. Set them to zero.")
        if np.linalg.slogdet(np.eye(d) - start)[0] == 0:
            raise ValueError(
                "The score is infinite at the start matrix, because I - B is singular. Choose another start."
            )
        return start

    def checkpoint_path(self, checkpoint: str | Path | None) -> Path | None:
        """Return the path of a checkpoint; raise a ValueError if the solver cannot continue from one."""
        if checkpoint is None:
            return None
        solver = self.chosen_solver
        if isinstance(solver, Order) or not solver.keeps_checkpoints:
            name = type(solver).__name__.lower()
            raise ProblemError.of(
                "A checkpoint needs a table of numbers and {solver='adam'}; {solver=} cannot continue a "
                "solve that was stopped.",
                solver=name,
            )
        if solver.uses_rows and isinstance(self.random_state, np.random.Generator):
            raise ValueError("A checkpoint of minibatches needs a whole number as random_state, not a Generator.")
        return Path(checkpoint)

    def _require_valid_values(self) -> None:
        """Check each parameter on its own."""
        for name, kind, example in (
            ("solver", Order | GradientSolver, "Adam()"),
            ("acyclicity", Acyclicity | None, "Expm()"),
            ("sparsity", Sparsity | None, "L1()"),
        ):
            if not isinstance(value := getattr(self, name), str) and not isinstance(value, kind):
                raise ProblemError(
                    Parameter(name), f" must be a name or an object such as {example}; got {reprlib.repr(value)}."
                )
        for name in ("max_iter", "time_limit"):
            value = plain_number(getattr(self, name))
            is_number = isinstance(value, Real)
            if value is not None and not (is_number and (0 < value < 2**63 or value == np.inf)):
                raise ProblemError(Parameter(name), f" must be a positive number; got {reprlib.repr(value)}.")
        if isinstance(self.threshold, str) and self.threshold != "lr":
            raise ProblemError(Set("threshold", self.threshold), " is neither a number nor 'lr' (likelihood ratio).")
        for name in ("lambda_sparsity", "lambda_dag", "threshold"):
            value = plain_number(getattr(self, name))
            is_word, is_number = isinstance(value, str) and name != "lambda_dag", isinstance(value, Real)
            if not (value is None or is_word or (is_number and 0 <= value < 2**1000)):  # larger ones are not floats
                raise ProblemError(
                    Parameter(name), f" must be a finite number of at least 0; got {reprlib.repr(value)}."
                )
        try:
            np.random.default_rng(self.random_state)
        except (TypeError, ValueError):
            raise ProblemError.of(
                "{parameter} must be a whole number of at least 0, a Generator or None; got {random_state!r}.",
                parameter=Parameter("random_state"),
                random_state=self.random_state,
            ) from None
        # Scores can be registered later.
        for name, choices in (_CHOICES | {"score_function": tuple(SCORES)}).items():
            if getattr(self, name) not in choices:
                raise ProblemError(
                    Parameter(name), f" must be one of {', '.join(map(repr, choices))}; got {getattr(self, name)!r}."
                )

    def _require_useful(self, solver: Order | GradientSolver) -> None:
        """Check that the solver uses all parameters that are set."""
        if self.threshold == "lr" and self.cycles == "none":
            raise ProblemError(Set("threshold", "lr"), " needs an acyclic graph. Leave out cycles='none'.")
        if self.robust == "ranks" and self.noise == "ev":
            raise ProblemError.of(
                "{robust='ranks'} cannot be used with {noise='ev'}, which compares the variances of the values. Use "
                "{noise='auto'} or {noise='nv'}, or {robust='off'}."
            )
        if self.statistics == "sparse":
            self._require_sparse()
        if isinstance(solver, Order):
            remedy = "{solver='order'} does not use it. Leave it out, or, for a table of numbers, use {solver='lbfgs'}"
            useless = dict.fromkeys((name for name in OF_GRADIENTS if name != "max_iter"), remedy)
            bounds = "{time_limit=...}" if self.noise == "ev" else "{effort=...} or {time_limit=...}"
            useless["max_iter"] = "{solver='order'} does not count iterations. Use " + bounds + " instead"
            if self.noise == "ev":
                useless["effort"] = "with {noise='ev'} the order is found in one pass. Leave it out"
        else:
            useless = {"effort": "it needs {solver='order'}. Leave it out"}
            if solver.needs_l1 and self.sparsity not in (None, "l1", L1()):
                useless["sparsity"] = f"{solver.label} needs the l1 norm. Leave it out, or use {{solver='adam'}}"
            if isinstance(self.lambda_sparsity, str):
                useless["lambda_sparsity"] = "a criterion needs {solver='order'}. Use a number"
        for name, remedy in useless.items():
            if getattr(self, name) is not None:
                raise ProblemError(Set(name, getattr(self, name)), " cannot be used here: ", Text.of(remedy), ".")

    def _require_sparse(self) -> None:
        """Raise a ValueError for settings that need the covariances of all pairs of columns."""
        needs = {"solver": not self.counts_edges, "noise": self.noise == "ev"}
        needs |= {"knowledge": self.knowledge is not None, "init": self.init is not None}
        for name, is_dense in needs.items():
            if is_dense:
                raise ProblemError.of(
                    "{given} cannot be used with {statistics='sparse'}, which has no covariances of all pairs of "
                    "columns. Use {statistics='dense'}.",
                    given=Set(name),
                )

    def _require_usable_device(self, solver: Order | GradientSolver) -> None:
        """Check that the solver can work on the device and with the numbers that are set."""
        if self.device != "auto":
            Placement(self.device)  # raises for a device that does not exist
        if self.robust == "ranks" and not isinstance(solver, Order) and solver.uses_rows:
            raise ProblemError(Set("robust", "ranks"), " cannot be used with minibatches, which are raw rows.")
        searches = isinstance(solver, Order) and self.statistics == "sparse" and self.dtype == "float64"
        unused = (self.device not in ("cpu", "auto") or self.dtype != "float64") and self._gpu_from(solver) is None
        if unused and not searches:
            name = "dtype" if self.device in ("cpu", "auto") else "device"
            raise ProblemError.of(
                "{given} needs a table of numbers and {solver='adam'}, or {solver='order'} with {noise='ev'}. "
                "Other solvers run on the CPU in float64.",
                given=Set(name, getattr(self, name)),
            )
        if not isinstance(solver, Order):
            solver.require_device(self.device, self.dtype)

    def _require_categories_allowed(self, score: str, is_complete: bool = True) -> None:
        """Raise a ValueError for settings that this score gives no meaning; `is_complete`: no values are missing."""
        about = f"the score {score!r} of a table with categories"
        refused: dict[str, str] = {}
        useless = [part for setting in self._only_for_numbers() for part in (", ", setting)]
        without = Text(" without ", *useless[1:]) if useless else ""
        if not self.counts_edges and self.cycles == "paper":
            raise ValueError(
                "The paper's recipe (Golem.paper) needs a table of numbers, and the score "
                f"{score!r} is for tables with categories. Use Golem()."
            )
        if not self.counts_edges:
            refused["solver"] = Text("needs ", Set("solver", "order"), without)
        if self.noise == "ev":
            refused["noise"] = Text("has no equal noise variances. Use ", Set("noise", "auto"), without)
        if isinstance(self.init, str):
            refused["init"] = "starts from an order or a graph"
        if score in DISCRETE and self.missing == "em" and not is_complete:
            refused["missing"] = Text.of("counts complete rows. Use {missing='drop'}, or {score_function='mixed'}")
        for name, reason in refused.items():
            raise ProblemError(Set(name, getattr(self, name)), f" cannot be used here: {about} ", reason, ".")

    def _only_for_numbers(self) -> list[Remedy]:
        """Return the settings that only solvers of tables of numbers use, so that one message names all of them."""
        unset = {"device": ("cpu", "auto"), "dtype": ("float64",)}
        given = {name: getattr(self, name) for name in (*OF_GRADIENTS, *unset)}
        set_ones = {name: value for name, value in given.items() if value not in (None, *unset.get(name, ()))}
        return [Set(name, value) for name, value in set_ones.items()]

    def _require_environments_allowed(self) -> None:
        """Raise a ValueError for settings that have no meaning with environments."""
        for name, choices in (("intervention", INTERVENTIONS), ("intercepts", INTERCEPTS)):
            if getattr(self, name) not in choices:
                raise ProblemError(Parameter(name), f" must be one of {choices}; got {getattr(self, name)!r}.")
        if not self.counts_edges:
            raise ProblemError.of(
                "Environments need {solver='order'}; got {solver=}, which supports only one environment.",
                solver=self.solver,
            )
        if self.noise == "ev":
            raise ProblemError.of(
                "{noise='ev'} cannot be used with environments: an intervention changes the noise variance of "
                "its targets. Use {noise='nv'}, which gives each variable its own."
            )
        if self.score_function in DISCRETE:
            raise ProblemError.of(
                "{score_function=} cannot be used with environments. Use {score_function='auto'}.",
                score_function=self.score_function,
            )
        if isinstance(self.init, str):
            raise ValueError(f"init={self.init!r} does not fit environments. Use an order or a graph.")
        if self.series:
            raise ProblemError.of("Environments cannot be used with {lags=...}, {time=...} or {unit=...}.")


def paper_settings(noise: str, accelerate: bool, own_solver: bool) -> dict[str, Any]:
    """Return the parameters of the paper's recipe (appendix F); `own_solver`: whether the caller sets a solver."""
    if noise not in PAPER_PENALTIES:
        raise ProblemError(Parameter("noise"), f" must be 'ev' or 'nv' in the paper's recipe; got {noise!r}.")
    if accelerate and own_solver:
        raise ProblemError("Set accelerate in the solver: ", Set("solver", Bare("Adam")), "(accelerate=True).")
    return {
        "noise": noise,
        "solver": Adam(accelerate=True) if accelerate else "adam",
        "lambda_sparsity": NOISE_MODELS[noise].lambda_sparsity,
        "lambda_dag": NOISE_MODELS[noise].lambda_dag,
        "threshold": PAPER_THRESHOLD,
        "init": "ev" if noise == "nv" else "zeros",
        "acyclicity": "expm",
        "cycles": "paper",
        "robust": "off",
    }


def is_counted(model: Any) -> bool:
    """Return whether the solver of an estimator counts edges."""
    return model.solver == "order" or isinstance(model.solver, Order)


def plain_number(value: Any) -> Any:
    """Return a NumPy number as a Python number, because products of the latter do not overflow."""
    return value.item() if isinstance(value, np.generic) else value


def named(table: Mapping[str, Any], name: str, parameter: str) -> Any:
    """Return the object with a name; raise a ValueError that lists the names if it is unknown."""
    if not isinstance(name, str) or name not in table:
        raise ProblemError(Parameter(parameter), f" must be one of {', '.join(map(repr, table))}; got {name!r}.")
    return table[name]
