"""Methods as experiments use them."""

import numpy as np
import pytest

from golem.gradient import checkpoint
from golem.score.objective import Objective
from golem.simulate import simulate
from golem_experiments import Task, learners, load
from golem_experiments.analysis.outputs import verdict_text
from golem_experiments.engine.store import keeping_checkpoints
from golem_experiments.learners import build, learn, learn_batch, settings

CELL = {"d": 6, "steps": 300}


@pytest.fixture
def tables(monkeypatch):
    monkeypatch.setattr(learners, "_golem_ev_solved", {})
    return [simulate(6, n, "ER2", random_state=n).data for n in (100, 200, 300)]


@pytest.mark.parametrize("method", ["golem-ev", "golem-nv", "golem-nv-l1", "golem-nv-plain", "golem-nv-zeros"])
@pytest.mark.parametrize("settings", [{}, {"lambda_sparsity": 0.1}])
def test_a_batch_learns_what_each_would_alone(tables, method, settings):
    learn_batch("golem-ev", CELL, tables, "cpu")
    together = learn_batch(method, CELL | settings, tables, "cpu")
    for rows, one in zip(tables, together, strict=True):
        alone = learn(method, CELL | settings, rows)
        np.testing.assert_allclose(one.model.raw_weights_, alone.model.raw_weights_, atol=1e-10)
        np.testing.assert_array_equal(one.estimate.graph, alone.estimate.graph)


@pytest.mark.parametrize("method", ["golem-ev", "golem-nv", "golem-nv-zeros"])
def test_a_batch_warns_of_each_table_as_it_would_alone(tables, method):
    # One table has few rows, one has columns of equal variance, and one has neither problem.
    tables = [tables[0][:8], tables[1] / tables[1].std(axis=0), tables[2]]
    warned = [one.warned for one in learn_batch(method, CELL, tables, "cpu")]
    assert warned == [learn(method, CELL, rows).warned for rows in tables]
    assert "n = 8 rows" in warned[0]
    assert ("same variance" in warned[1]) is (method == "golem-ev")
    assert not warned[2]


def test_golem_ev_is_solved_once_for_all_that_start_there(tables, monkeypatch):
    solved = []
    fit_stacked = learners.fit_stacked
    monkeypatch.setattr(
        learners,
        "fit_stacked",
        lambda model, *rest, **more: (solved.append(model.noise), fit_stacked(model, *rest, **more))[1],
    )
    for method in ("golem-nv", "golem-nv-l1", "golem-ev"):
        learn_batch(method, CELL, tables, "cpu")
    assert solved == ["ev", "nv", "nv"]
    for other in ({"d": 6, "steps": 200}, CELL | {"acyclicity": "polynomial"}):
        solved.clear()
        learn_batch("golem-nv", other, tables, "cpu")
        assert solved == ["ev", "nv"]


def test_the_time_of_a_start_counts(tables):
    learn_batch("golem-ev", CELL, tables, "cpu")
    kept = learners._golem_ev_solved
    ((key, solved),) = kept.items()
    kept[key] = solved._replace(seconds=300.0)
    assert all(one.seconds > 100 for one in learn_batch("golem-nv", CELL, tables, "cpu"))


def test_an_interrupted_start_is_no_start(tables, monkeypatch):
    def interrupted(self, *arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("golem.gradient.adam.Adam._moved", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learn_batch("golem-nv", CELL, tables, "cpu")
    assert not learners._golem_ev_solved


def test_fgs_has_the_score_of_the_paper_and_says_so():
    cell = {"graph": "ER1", "noise": "gaussian-ev", "d": 10, "n": 1000, "steps": 100_000}
    assert (build("fgs", cell).structure_prior, build("fgs-bic", cell).structure_prior) == (1, 0)
    assert settings(Task("identifiable", cell, 0, "fgs")) != settings(Task("identifiable", cell, 0, "fgs-bic"))
    row = {"experiment": "identifiable", **cell, "method": "fgs", "seed": 0, "status": "done", "seconds": 1.0}
    assert "FGS(structure_prior=1)" in verdict_text(load("identifiable"), [row], [], [])


@pytest.mark.parametrize("batch", [False, True])
def test_a_recipe_that_was_killed_continues_in_the_next_process(tables, batch, tmp_path, monkeypatch):
    def learned():
        monkeypatch.setattr(learners, "_golem_ev_solved", {})  # as in a new process
        if batch:
            return [one.model.raw_weights_ for one in learn_batch("golem-nv", CELL, tables, "cpu")]
        return [learn("golem-nv", CELL, tables[0]).model.raw_weights_]

    whole = learned()
    monkeypatch.setattr(checkpoint, "_INTERVAL", 0.0)
    monkeypatch.setattr(checkpoint, "_COPY_INTERVAL", 0.0)
    monkeypatch.setattr(checkpoint, "_SHARE", 0)
    plain, left = Objective.add_sparsity, [0]

    def add_sparsity(*arguments):
        left[0] -= 1
        if left[0] < 0:
            raise RuntimeError("killed")
        return plain(*arguments)

    monkeypatch.setattr(Objective, "add_sparsity", add_sparsity)
    with keeping_checkpoints(str(tmp_path / "checkpoints")):
        for moment in (100, 250, 90):  # in the first stage, at the start of the second, and inside it
            left[0] = moment
            with pytest.raises(RuntimeError, match="killed"):
                learned()
        left[0] = 180  # too few for all steps
        found = learned()
    assert all(np.array_equal(one, two) for one, two in zip(found, whole, strict=True))
    if not batch:
        assert list((tmp_path / "checkpoints").iterdir()) == []
