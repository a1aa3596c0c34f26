"""What a notebook shows of an estimator: the learned graph once it is fitted, its settings before."""

from __future__ import annotations

from typing import Any

from sklearn import get_config
from sklearn.utils import estimator_html_repr


class NotebookDisplay:
    """Rich display of a model. It comes before scikit-learn's base class, whose display shows settings only."""

    def _repr_html_(self) -> str:
        model: Any = getattr(self, "estimator_", self)  # a GolemCV shows the model that it chose
        if not hasattr(model, "graph_"):
            return str(estimator_html_repr(self))
        from golem.output.notebook import model_html

        return model_html(model)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        plain = {"text/plain": repr(self)}
        return plain if get_config()["display"] == "text" else plain | {"text/html": self._repr_html_()}
