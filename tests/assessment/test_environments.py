"""Bootstrap, selection and edge losses of models of several environments."""

import numpy as np
import pandas as pd
import pytest

from golem import Golem, GolemCV, Moments, bootstrap
from golem.assessment.diagnostics.edges import drop_losses, edge_loss
from golem.data.table_reading import read_table

TARGETS = {"control": [], "ko": ["b"]}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(300, 3))
    ko = np.arange(300) >= 200
    a = noise[:, 0] + 5 * ko
    b = np.where(ko, 2 * noise[:, 1], a + noise[:, 1])
    return pd.DataFrame({"a": a, "b": b, "c": b + noise[:, 2], "arm": np.where(ko, "ko", "control")})


@pytest.fixture(scope="module")
def model(frame):
    return Golem(intervention="hard").fit(frame, environments="arm", targets=TARGETS)


def test_resamples_keep_the_environments(frame):
    sample = read_table(frame, environments="arm", targets=TARGETS)
    assert sample.n == 300
    drawn = sample.draw(np.random.default_rng(0))
    assert drawn.labels == ("control", "ko")
    assert [part.moments.n for part in drawn.parts] == [100, 50]  # a resample counts as half of its rows
    shift = drawn.parts[1].moments.mean[0] - drawn.parts[0].moments.mean[0]
    assert 4 < shift < 6
    first, second = sample.halves(1, np.random.default_rng(0))
    assert np.allclose((first + second).pooled([0]).scatter, sample.pooled([0]).scatter)


def test_the_score_of_a_table_with_labels_names_their_column(frame, model):
    assert np.isfinite(model.score(frame.drop(columns="arm")))
    with pytest.raises(ValueError, match="Leave out the column of labels: 'arm'"):
        model.score(frame)


def test_bootstrap_finds_the_directions_of_an_experiment(frame, model, tmp_path):
    found = bootstrap(model, frame, 20, environments="arm")
    assert "<h3>Bootstrap</h3>" in model.report(tmp_path / "report.html", bootstrap=found).read_text()
    assert found.names == ("a", "b", "c")
    assert found.adjacency_frequency[0, 1] == found.adjacency_frequency[1, 2] == 1.0
    by_position = bootstrap(model, frame[list("abc")].to_numpy(), 20, environments=frame["arm"])
    assert np.array_equal(by_position.direction_frequency, found.direction_frequency)
    unfitted = bootstrap(Golem(intervention="hard"), frame, 20, environments="arm", targets=TARGETS)
    assert np.array_equal(unfitted.direction_frequency, found.direction_frequency)


def test_bootstrap_needs_rows(model):
    with pytest.raises(ValueError, match="Environment 'control': Moments of all rows cannot be resampled"):
        bootstrap(model, model.table_.with_moments(part.moments for part in model.table_.parts), 5)
    with pytest.raises(ValueError, match=r"targets=\.\.\. needs environments="):
        bootstrap(model, np.zeros((5, 3)), 5)


def test_bootstrap_with_missing_values_uses_em(frame):
    holes = frame.copy()
    holes.loc[::25, "a"] = np.nan
    found = bootstrap(Golem(missing="em"), holes, 3, environments="arm", targets=TARGETS)
    assert found.em
    assert found.adjacency_frequency[1, 2] == 1.0


def test_dropping_an_edge_costs_what_the_score_says(model):
    score = model.fit_.score
    for i, j in np.argwhere(model.adjacency_):
        parents = np.flatnonzero(model.adjacency_[:, j]).tolist()
        expected = score.cost(j, [k for k in parents if k != i]) - score.cost(j, parents)
        assert drop_losses(model)[i, j] == pytest.approx(expected)
        assert edge_loss(model, i, j).drop == pytest.approx(expected)


@pytest.mark.parametrize("select", ["bic", "stability"])
def test_penalties_are_chosen_with_environments(frame, model, select):
    chosen = GolemCV(Golem(intervention="hard"), select, **({"pairs": 3} if select == "stability" else {}))
    chosen.fit(frame, environments="arm", targets=TARGETS)
    assert np.array_equal(chosen.adjacency_, model.adjacency_)
    assert chosen.table_.n == 300


def test_cross_validation_is_refused(frame):
    with pytest.raises(ValueError, match="select='cv' is not defined for environments"):
        GolemCV(select="cv").fit(frame, environments="arm", targets=TARGETS)
    parts = {label: Moments.from_rows(part[list("abc")]) for label, part in frame.groupby("arm")}
    with pytest.raises(ValueError, match="cannot be resampled"):
        GolemCV(select="stability").fit(parts, targets={"control": [], "ko": [1]})
