"""What a fit with environments says about directions: class, margins, knowledge."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from golem import Golem, Knowledge, LinearSEM, Moments
from golem.data.table import Part, Table
from golem.graphs.edges import Edges
from golem.graphs.interventional import interventional_reversible
from golem.simulate import random_sem, simulate_environments, single_targets

CHAIN = LinearSEM([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]], [1, 1, 1, 1], names=list("abcd"))


def fit(sem, targets, changed, intervention="soft", **settings):
    """Fit 500 rows per environment, drawn from the changed models."""
    rng = np.random.default_rng(0)
    rows = {label: model.sample(500, rng) for label, model in changed.items()}
    labels = np.repeat(list(rows), 500)
    model = Golem("nv", intervention=intervention, **settings)
    named = {label: [sem.names[j] for j in chosen] for label, chosen in targets.items()}
    X = np.concatenate(list(rows.values()))
    return model.fit(pa.table(dict(zip(sem.names, X.T, strict=True))), environments=labels, targets=named)


def sources(model):
    return {edge.source + edge.target: edge.direction_from for edge in model.edges_}


@pytest.mark.parametrize("intervention", ["hard", "soft"])
def test_an_experiment_decides_what_the_interventional_class_does(intervention):
    targets = {"control": [], "b": [1]}
    changed = CHAIN.randomize({"b": (0.0, 3.0)}) if intervention == "hard" else CHAIN.change(["b"], variance=9.0)
    model = fit(CHAIN, targets, {"control": CHAIN, "b": changed}, intervention)
    # Both edges of b, and c -> d because c would otherwise be a collider.
    assert sources(model) == dict.fromkeys(("ab", "bc", "cd"), "interventions")
    assert (model.by_intervention_ == CHAIN.adjacency).all()
    assert not model.undecided_.any()
    assert (model.pdag_ == CHAIN.adjacency).all()
    assert (model.cpdag_ == (CHAIN.adjacency | CHAIN.adjacency.T)).all()
    assert all(edge.direction_strength > 6 for edge in model.edges_)


def test_an_experiment_on_an_end_leaves_the_others_open():
    targets = {"control": [], "d": [3]}
    model = fit(CHAIN, targets, {"control": CHAIN, "d": CHAIN.change(["d"], variance=9.0)})
    found = sources(model)
    assert found["cd"] == "interventions"
    assert sorted(found.values()) == ["interventions", "none", "none"]
    assert model.undecided_.sum() == 2


def test_a_shift_of_the_mean_decides_nothing_unless_means_are_shared():
    targets = {"control": [], "b": [1], "c": [2]}
    changed = {"control": CHAIN} | {name: CHAIN.change([name], shift=3.0) for name in "bc"}
    separate = fit(CHAIN, targets, changed)
    assert set(sources(separate).values()) == {"none"}
    shared = fit(CHAIN, targets, changed, intercepts="shared")
    assert set(sources(shared).values()) == {"interventions"}
    assert (shared.adjacency_ == CHAIN.adjacency).all()


@pytest.mark.parametrize("intervention", ["hard", "soft"])
def test_an_experiment_without_an_effect_decides_nothing(intervention):
    """Lognormal noise, x -> y: the score of the rows alone claims half of these directions, or all of hard ones."""
    claims = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        x = rng.lognormal(size=600)
        X = np.column_stack([x, x + rng.lognormal(size=600)])
        targets = {"control": [], "nothing": [seed % 2]}
        model = Golem(intervention=intervention).fit(X, environments=np.repeat(list(targets), 300), targets=targets)
        assert model.adjacency_.sum() == 1
        claims += int(model.by_intervention_.sum())
    assert claims <= 2


def test_hard_targets_that_depend_on_their_parents_decide_nothing():
    targets = {"control": [], "b": [1], "c": [2]}
    changed = {"control": CHAIN} | {name: CHAIN.change([name], variance=3.0) for name in "bc"}
    model = fit(CHAIN, targets, changed, "hard")
    assert not model.by_intervention_.any()
    assert model.graph_.hardness.dependent
    assert "intervention='soft'" in model.diagnose()["hard-targets"].remedy
    soft = fit(CHAIN, targets, changed)
    assert (soft.by_intervention_ == CHAIN.adjacency).all()


def test_moments_without_rows_decide_nothing():
    rng, targets = np.random.default_rng(0), {"control": [], "b": ["b"]}
    tables = {"control": CHAIN.sample(500, rng), "b": CHAIN.change(["b"], variance=9.0).sample(500, rng)}
    parts = {label: Moments.from_rows(table, CHAIN.names) for label, table in tables.items()}
    environments = Table.of(parts, targets)
    assert not Golem().fit(parts, targets=targets).by_intervention_.any()
    assert not Golem().fit(environments).by_intervention_.any()
    with_rows = Table.of_parts([Part(label, parts[label], rows=rows) for label, rows in tables.items()], targets)
    assert (Golem().fit(with_rows).by_intervention_ == CHAIN.adjacency).all()
    narrow = Table.of_parts([Part(label, parts[label], rows=rows[:, :2]) for label, rows in tables.items()], targets)
    with pytest.raises(ValueError, match="shape"):
        Golem().fit(narrow)


def test_the_order_of_rows_and_columns_does_not_matter():
    rng, targets = np.random.default_rng(3), {"control": [], "b": ["b"], "d": ["d"]}
    models = [CHAIN, CHAIN.change(["b"], variance=2.5), CHAIN.change(["d"], variance=2.5)]
    X = np.concatenate([model.sample(200, rng) for model in models])
    labels = np.repeat(list(targets), 200)
    found = []
    for rows, columns in ((np.arange(600), range(4)), (rng.permutation(600), (2, 0, 3, 1))):
        table = pa.table({CHAIN.names[j]: X[rows, j] for j in columns})
        model = Golem().fit(table, environments=labels[rows], targets=targets)
        found.append(
            {(edge.source, edge.target): (edge.direction_from, edge.direction_strength) for edge in model.edges_}
        )
    assert found[0].keys() == found[1].keys()
    for edge, (source, strength) in found[0].items():
        assert found[1][edge][0] == source
        assert strength is None or found[1][edge][1] == pytest.approx(strength, rel=1e-6)
    assert any(source == "interventions" for source, _ in found[0].values())


def test_knowledge_comes_first():
    targets = {"control": [], "d": [3]}
    changed = {"control": CHAIN, "d": CHAIN.change(["d"], variance=9.0)}
    known = Knowledge.named(required=[("a", "b")])
    model = fit(CHAIN, targets, changed, knowledge=known)
    assert sources(model) == {"ab": "knowledge", "bc": "follows", "cd": "follows"}


@pytest.mark.parametrize("intervention", ["hard", "soft"])
@pytest.mark.parametrize("seed", range(3))
def test_claims_are_within_the_interventional_class_and_right(intervention, seed):
    sem = random_sem(8, "ER1.5", "gaussian-nv", random_state=seed)
    chosen = single_targets(sem, 3, intervention, seed)
    drawn = simulate_environments(sem, chosen, 8000, intervention, seed)
    model = Golem("nv", intervention=intervention).fit(drawn.data, environments=drawn.labels, targets=chosen)
    edges = Edges.from_matrix(model.adjacency_)
    numbers = [[sem.names.index(one) for one in some] for some in chosen.values()]
    open_edges = edges.matrix(interventional_reversible(edges, numbers, intervention))
    assert not (model.by_intervention_ & open_edges).any()
    assert (model.undecided_ >= open_edges).all()
    assert not (model.by_intervention_ & sem.adjacency.T).any()
