"""Methods of an estimator that call what lies above it: checks, figures and reports."""

from __future__ import annotations

from typing import Any

from sklearn import get_config
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted


def _chosen(estimator: Any) -> Any:
    """Return a fitted model; of a GolemCV, the one that it chose."""
    check_is_fitted(estimator, "graph_")
    return getattr(estimator, "estimator_", estimator)


class GraphQuestions:
    """What a model says about one variable, and how it is saved."""

    def effects_on(self: Any, target: str, bootstrap: Any = None) -> Any:
        """Return what drives a variable: total effects, ranked, as ranges where directions are open.

        See `golem.output.effects_on`; `bootstrap` is what `golem.bootstrap` returned for this model.
        """
        from golem.output.effects import effects_on

        return effects_on(getattr(self, "estimator_", self), target, bootstrap)

    def parents(self: Any, variable: str) -> tuple[str, ...]:
        """Return the causes of a variable; links, which may point either way, do not count."""
        from golem.output.effects import parents

        return parents(getattr(self, "estimator_", self), variable)

    def markov_blanket(self: Any, variable: str) -> tuple[str, ...]:
        """Return the variables that make all others irrelevant for predicting one."""
        from golem.output.effects import markov_blanket

        return markov_blanket(getattr(self, "estimator_", self), variable)


class Conveniences(GraphQuestions):
    """Shortcuts to functions of `golem.assessment` and `golem.output`."""

    def certify(self: Any, tolerance: float = 1e-6) -> Any:
        """Find a stationary point of the paper's l1 score from these weights; see `golem.diagnostics.certify`."""
        from golem.assessment.diagnostics import certify

        return certify(_chosen(self), tolerance)

    def diagnose(self: Any, X: Any = None, *, refit: bool | None = None) -> Any:
        """Check the learned graph; see `golem.diagnostics.diagnose`."""
        from golem.assessment.diagnostics import diagnose

        return diagnose(_chosen(self), X, refit=refit)

    def save(self: Any, folder: Any) -> Any:
        """Write graph.json, edges.csv and weights.csv into a folder; `golem.load` reads them."""
        from golem.output.document import save

        return save(_chosen(self), folder)

    def summary(self: Any, X: Any = None, *, bootstrap: Any = None) -> str:
        """Return the graph and the findings as text, as `golem fit` prints them; `print(model)` shows the same.

        Parameters
        ----------
        X : table, optional
            The rows of the fit, for the checks that need them.
        bootstrap : Bootstrap, optional
            What `golem.bootstrap` returned for this model.
        """
        from golem.output.screen import summary_text

        return summary_text(_chosen(self), X, bootstrap)

    def plot(self: Any, **options: Any) -> Any:
        """Draw the learned graph, or the weight matrix of a large one; see `golem.plots.plot_model`."""
        from golem.output.figures import plot_model

        return plot_model(_chosen(self), **options)

    def report(self: Any, path: Any, *, bootstrap: Any = None, **options: Any) -> Any:
        """Write a page to explore the graph in a browser.

        Parameters
        ----------
        path : str or Path
            The HTML file.
        bootstrap : Bootstrap, optional
            What `golem.bootstrap` returned for this model; the page then shows how often each edge was found.
        **options
            `title`, `truth`, `other`, `rows` and `supplement`; see `golem.output.report.report_document` and
            `report_model`.
        """
        from golem.output.report import report_model

        return report_model(_chosen(self), path, bootstrap=bootstrap, **options)


class NotebookDisplay:
    """Rich display of a model. It comes before scikit-learn's base class, whose display shows settings only."""

    def _repr_html_(self) -> str:
        model: Any = getattr(self, "estimator_", self)  # a GolemCV shows the model that it chose
        if not hasattr(model, "graph_"):
            return str(estimator_html_repr(self))
        from golem.output.notebook import model_html

        return model_html(model)

    def __str__(self) -> str:
        model: Any = getattr(self, "estimator_", self)
        return str(model.summary()) if hasattr(model, "graph_") else repr(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        plain = {"text/plain": repr(self)}
        return plain if get_config()["display"] == "text" else plain | {"text/html": self._repr_html_()}
