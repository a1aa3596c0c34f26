"""What drives a variable: effects, ranges over open directions, parents, Markov blankets, saved models."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

import golem
from command_line import golem as command
from golem import Golem, LinearSEM
from golem.graphs.named_graph import NamedGraph
from golem.output import Supplement, effects_on, save
from golem.simulate import simulate


@pytest.fixture(scope="module")
def sem():
    weights = np.zeros((4, 4))
    weights[0, 1], weights[1, 3], weights[2, 3], weights[0, 3] = 0.8, 1.5, -0.7, 0.4
    return LinearSEM(weights, [1.0, 0.5, 2.0, 1.0], names=["a", "b", "c", "y"])


@pytest.fixture(scope="module")
def fitted(sem):
    data = pd.DataFrame(sem.sample(2000, random_state=0), columns=list(sem.names))
    return Golem(noise="nv", shape="off").fit(data), data


@pytest.mark.parametrize("variances", [[0.0, 0.0], [-1.0, 1.0], [1e308, 1e308]])
def test_variances_that_no_model_has_are_refused(variances):
    nodes = [{"noise_variance": variance} for variance in variances]
    with pytest.raises(ValueError, match="not positive numbers"):
        effects_on(NamedGraph.from_lists(["a", "b"], [("a", "b", {"weight": 5.0})], nodes), "b")


def test_effects_of_known_directions_are_those_of_the_model(sem):
    found = effects_on(sem, "y")
    assert {effect.says for effect in found} == {"known"}
    for effect in found:
        assert effect.low == pytest.approx(sem.total_effect(effect.source, "y"))
        i = sem.names.index(effect.source)
        scale = np.sqrt(sem.covariance[i, i] / sem.covariance[3, 3])
        assert effect.standardized_low == pytest.approx(effect.low * scale)
    sizes = [abs(effect.standardized_low) for effect in found]
    assert sizes == sorted(sizes, reverse=True)
    assert effects_on(sem, "a") == []
    with pytest.raises(ValueError, match="no variable 'z'"):
        effects_on(sem, "z")


def test_an_effect_along_a_link_is_a_range_that_contains_zero(fitted):
    model, data = fitted
    pair = Golem(noise="nv", shape="off").fit(data[["a", "b"]])
    (effect,) = pair.effects_on("b")
    assert effect.says == "may be zero"
    slope = np.polyfit(data["a"], data["b"], 1)[0]
    assert (effect.low, effect.high) == pytest.approx((0, slope))
    assert pair.parents("b") == ()
    assert pair.markov_blanket("b") == ("a",)
    directed = Golem(knowledge={"tiers": [["a"], ["b"]]}).fit(data[["a", "b"]])
    (effect,) = directed.effects_on("b")
    assert (effect.low, effect.says) == (pytest.approx(slope), "known")
    assert directed.parents("b") == ("a",)
    # The shown member is one of those that the range is over.
    for effect in model.effects_on("y"):
        assert (
            effect.low - 1e-9 <= model.sem_.assuming_directions().total_effect(effect.source, "y") <= effect.high + 1e-9
        )


def test_effects_of_categories_are_differences_between_levels():
    rng = np.random.default_rng(0)
    drug = rng.choice(["zero", "low", "high"], 900)
    x = rng.normal(size=900)
    y = x + np.select([drug == "low", drug == "high"], [1.0, 3.0], 0.0) + rng.normal(size=900)
    frame = pd.DataFrame({"drug": drug, "x": x, "y": y})
    model = Golem(knowledge={"tiers": [["drug", "x"], ["y"]]}).fit(frame)
    found = {(effect.source, effect.source_level): effect for effect in model.effects_on("y")}
    reference = model.variables_[0].levels[0]
    means = frame.groupby("drug")["y"].mean() - frame.loc[frame["drug"] == reference, "y"].mean()
    for level in set(drug) - {reference}:
        assert found["drug", level].low == pytest.approx(means[level], abs=0.2)
    assert found["x", None].low == pytest.approx(1, abs=0.1)


def test_a_saved_model_answers_the_same(fitted, tmp_path):
    model, data = fitted
    model.save(tmp_path)
    loaded = golem.load(tmp_path)
    assert loaded.markov_blanket("c") == model.markov_blanket("c")
    assert loaded.parents("y") == model.parents("y")
    np.testing.assert_allclose(loaded.weights_, model.weights_)
    np.testing.assert_allclose(loaded.sem_.covariance, model.sem_.covariance)
    for one, other in zip(loaded.effects_on("y"), model.effects_on("y"), strict=True):
        assert one.source == other.source
        assert one.low == pytest.approx(other.low)
    again = golem.bootstrap(model, data, 20, random_state=0, n_jobs=1)
    save(model, tmp_path, Supplement(bootstrap=again))
    with_intervals = [effect for effect in golem.load(tmp_path).effects_on("y") if effect.interval_low is not None]
    own = {effect.source: effect for effect in model.effects_on("y", bootstrap=again)}
    assert with_intervals
    for effect in with_intervals:
        assert effect.interval_high == pytest.approx(own[effect.source].interval_high)


def test_the_command_prints_a_table_or_json(fitted, tmp_path):
    model, _ = fitted
    model.save(tmp_path)
    said = command("effects", tmp_path, "--on", "y").output
    assert said.startswith("Total effects on 'y'")
    rows = json.loads(command("effects", tmp_path / "graph.json", "--on", "y", "--json").output)
    assert [row["source"] for row in rows] == [effect.source for effect in model.effects_on("y")]
    assert "no variable 'z'" in command("effects", tmp_path, "--on", "z", expect=1).output


def test_markov_blankets_make_the_others_irrelevant(sem):
    precision = np.linalg.inv(sem.covariance)
    for k, name in enumerate(sem.names):
        blanket = golem.output.effects.markov_blanket(sem, name)
        used = {sem.names[i] for i in np.flatnonzero(np.abs(precision[k]) > 1e-12)} - {name}
        assert used == set(blanket)


def test_a_graph_can_be_exported_to_a_text_and_for_dowhy(sem, fitted):
    text = golem.export_graph(sem, format="dowhy")
    assert 'label "a"' in text
    assert "weight" not in text
    with pytest.raises(ValueError, match="DoWhy needs a direction for every edge"):
        golem.export_graph(Golem(noise="nv", shape="off").fit(fitted[1][["a", "b"]]), format="dowhy")
    with pytest.raises(ValueError, match="name a format"):
        golem.export_graph(sem)
    assert golem.to_networkx(sem).edges["a", "b"]["weight"] == 0.8


def test_wide_graphs_need_no_large_matrix():
    data = simulate(300, 600, "ER1", random_state=0).data
    model = Golem(effort="fast").fit(data)
    name = model.table_.names[int(model.graph_.children[0])]
    assert all(effect.target == name for effect in model.effects_on(name))


def test_printing_a_fitted_model_shows_the_graph_and_the_findings(fitted):
    model, data = fitted
    said = str(model)
    assert said == model.summary()
    assert "among 4 variables" in said
    assert "Before you rely on it" in said
    assert "-->" in said or "---" in said
    assert max(map(len, said.splitlines())) <= 80
    assert said == model.summary(data)  # a small table is kept with its rows
    saved = pickle.loads(pickle.dumps(model))
    assert "Most checks of the assumptions were not possible" in str(saved)
    assert "Most checks of the assumptions were not possible" not in saved.summary(data)
    assert str(Golem()) == repr(Golem()) == "Golem()"


def test_total_effects_have_names(sem):
    assert sem.total_effects["a", "y"] == sem.total_effects[0, 3] == sem.total_effect("a", "y")
    assert sem.total_effects.names == sem.names
    np.testing.assert_array_equal(sem.total_effects["a"], sem.total_effects[0])
    assert type(sem.total_effects[0]) is np.ndarray
