"""Checkpoints: a solve that was stopped any number of times ends exactly like one that was not."""

from __future__ import annotations

import dataclasses
import json
import warnings

import numpy as np
import pytest

import golem
from golem import Golem, Knowledge
from golem.estimator.stacked_fits import fit_stacked
from golem.gradient import checkpoint
from golem.gradient.adam import Adam
from golem.gradient.checkpoint import seconds_in
from golem.gradient.lbfgs import LBFGS
from golem.score.objective import Objective
from golem.score.solution import Status
from golem.simulate import simulate

STEPS = 300


@pytest.fixture(autouse=True)
def every_step_is_copied(monkeypatch):
    monkeypatch.setattr(checkpoint, "_COPY_INTERVAL", 0.0)


@pytest.fixture
def data():
    return simulate(6, 100, "ER2", "gaussian-nv", random_state=1).data


@pytest.fixture
def kill(monkeypatch):
    """Return a function that lets the solver stop in the middle of a step, after so many gradients."""
    plain = Objective.add_sparsity

    def after(count):
        left = [count]

        def add_sparsity(self, B, grad):
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return plain(self, B, grad)

        monkeypatch.setattr(Objective, "add_sparsity", add_sparsity)

    yield after
    monkeypatch.setattr(Objective, "add_sparsity", plain)


def quietly(fit, *arguments, **options):
    """Fit without the warning that the solve was stopped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit(*arguments, **options)


def resumed(fit, kill, rng, path):
    """Stop a fit again and again at random moments, until it ends; return the result and the number of calls."""
    for call in range(1, 100):
        kill(int(rng.integers(1, STEPS)))
        found = quietly(fit, checkpoint=path)
        models = found if isinstance(found, list) else [found]
        if not any(model.solution_.status is Status.INTERRUPTED for model in models):
            return found, call
    raise AssertionError("the fit does not get on")


def same(first, second):
    """Compare two solutions bit for bit, except for their times."""
    if first is None or second is None:
        return first is second
    one, two = (
        dataclasses.replace(
            solution, seconds=0.0, trace=tuple(dataclasses.replace(point, seconds=0.0) for point in solution.trace)
        )
        for solution in (first, second)
    )
    fields = [field.name for field in dataclasses.fields(one) if field.name != "weights"]
    return np.array_equal(one.weights, two.weights) and all(
        str(getattr(one, name)) == str(getattr(two, name)) for name in fields
    )


@pytest.mark.parametrize(
    "settings",
    [
        {"noise": "ev"},
        {"noise": "nv"},
        {"noise": "auto", "acyclicity": "logdet", "knowledge": Knowledge.of(6, forbidden=[(0, 1)], required=[(2, 3)])},
        {"noise": "nv", "solver": Adam(batch_size=30), "random_state": 3},
        {"noise": "ev", "solver": Adam(tolerance=0.05, learning_rate=1e-2)},
        {"noise": "ev", "dtype": "float32"},
    ],
    ids=["ev", "nv", "auto", "minibatches", "early stopping", "float32"],
)
def test_a_fit_that_was_stopped_at_random_equals_one_that_was_not(settings, data, kill, tmp_path, rng):
    model = Golem(**({"solver": "adam", "max_iter": STEPS} | settings))
    whole = quietly(model.fit, data)
    path = tmp_path / "run"
    model = Golem(**model.get_params())
    found, calls = resumed(lambda **options: model.fit(data, **options), kill, rng, path)
    assert calls > 1
    assert same(found.solution_, whole.solution_)
    assert same(found.start_solution_, whole.start_solution_)
    assert np.array_equal(found.weights_, whole.weights_)


@pytest.mark.parametrize("noise", ["ev", "nv"])
def test_a_stack_continues_too_also_when_some_of_its_problems_have_ended(noise, kill, tmp_path, rng):
    tables = [simulate(5, 100, "ER1", random_state=seed).data for seed in range(3)]
    model = Golem(noise, Adam(max_iter=STEPS, learning_rate=1e-2, tolerance=0.1))
    whole = quietly(fit_stacked, model, tables)
    found, calls = resumed(lambda **options: fit_stacked(model, tables, **options), kill, rng, tmp_path / "run")
    assert calls > 1
    assert len({one.solution_.status for one in whole}) > 1 or noise == "nv"
    for one, two in zip(found, whole, strict=True):
        assert same(one.solution_, two.solution_)
        assert same(one.start_solution_, two.start_solution_)


@pytest.mark.torch
def test_a_fit_on_tensors_continues_with_the_same_bits(data, kill, tmp_path, rng, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(golem.runtime.devices.Placement, "put", lambda self, array: torch.asarray(array))
    model = Golem("nv", "adam", max_iter=STEPS)
    whole = quietly(model.fit, data)
    found, calls = resumed(
        lambda **options: Golem(**model.get_params()).fit(data, **options), kill, rng, tmp_path / "a"
    )
    assert calls > 1
    assert same(found.solution_, whole.solution_)


def test_a_time_limit_is_a_slot_and_the_seconds_add_up(data, tmp_path):
    path = tmp_path / "run"
    model = Golem("ev", "adam", max_iter=3000)
    whole = model.fit(data).solution_
    seconds = [0.0]
    for _ in range(100):
        found = quietly(Golem("ev", "adam", max_iter=3000, time_limit=0.05).fit, data, checkpoint=path).solution_
        assert seconds_in(path) > seconds[-1]
        seconds.append(seconds_in(path))
        if found.status is Status.COMPLETED:
            break
        assert found.status is Status.TIME_LIMIT
    assert len(seconds) > 2
    assert same(found, whole)
    assert found.seconds == seconds[-1]
    times = [point.seconds for point in found.trace]
    assert times == sorted(times)


def test_a_fit_that_has_ended_returns_at_once(data, tmp_path, kill):
    path = tmp_path / "run"
    first = Golem("nv", "adam", max_iter=STEPS).fit(data, checkpoint=path)
    written = path.read_bytes()
    kill(1)
    second = Golem("nv", "adam", max_iter=STEPS).fit(data, checkpoint=path)
    assert same(first.solution_, second.solution_)
    assert same(first.start_solution_, second.start_solution_)
    assert path.read_bytes() == written


def test_files_are_written_at_intervals_and_hold_plain_arrays(data, tmp_path, monkeypatch):
    written = []
    plain = checkpoint.Checkpoint.keep
    monkeypatch.setattr(checkpoint.Checkpoint, "keep", lambda *a: (written.append(1), plain(*a)))
    monkeypatch.setattr(checkpoint, "_COPY_INTERVAL", 3600.0)  # however busy the machine is
    Golem("ev", "adam", max_iter=STEPS).fit(data, checkpoint=tmp_path / "rare")
    rarely = len(written)
    assert rarely <= 2  # the solution and its last state
    monkeypatch.setattr(checkpoint, "_COPY_INTERVAL", 0.0)
    monkeypatch.setattr(checkpoint, "_INTERVAL", 0.0)
    monkeypatch.setattr(checkpoint, "_SHARE", 0)
    Golem("ev", "adam", max_iter=10).fit(data, checkpoint=tmp_path / "often")
    assert len(written) == rarely + 11
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    with np.load(tmp_path / "often", allow_pickle=False) as archive:
        assert archive["golem-ev/weights"].shape == (6, 6)
        assert json.loads(str(archive["about"]))["golem_checkpoint"] == 2


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"lambda_sparsity": 0.1}, "lambda_sparsity differs"),
        ({"max_iter": STEPS + 1}, "solver differs"),
        ({"noise": "nv"}, "lambda_sparsity, noise, start differ"),
        ({"knowledge": Knowledge.of(6, forbidden=[(0, 1)])}, "knowledge differs"),
    ],
)
def test_a_checkpoint_of_other_settings_is_refused_and_stays(changes, named, data, tmp_path):
    path = tmp_path / "run"
    settings = {"noise": "ev", "solver": "adam", "max_iter": STEPS}
    Golem(**settings).fit(data, checkpoint=path)
    written = path.read_bytes()
    with pytest.raises(ValueError, match=rf"belongs to another run: {named}\. Delete it"):
        Golem(**(settings | changes)).fit(data, checkpoint=path)
    with pytest.raises(ValueError, match=r"belongs to another run: data differs"):
        Golem(**settings).fit(data + np.eye(100, 6), checkpoint=path)
    assert path.read_bytes() == written


def test_files_that_are_no_checkpoints_are_refused_and_stay(data, tmp_path):
    path, model = tmp_path / "run", Golem("ev", "adam", max_iter=10)
    model.fit(data, checkpoint=path)
    good = path.read_bytes()
    with (tmp_path / "other.npz").open("wb") as file:
        np.savez(file, about=np.array(json.dumps({"golem_checkpoint": 99})))
    newer = (tmp_path / "other.npz").read_bytes()
    for content in (b"", b"a,b\n1,2\n", good[: len(good) // 2], good[:-30], newer):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"is not a checkpoint of golem|has format 99"):
            model.fit(data, checkpoint=path)
        assert path.read_bytes() == content
    with pytest.raises(ValueError, match="The folder of the checkpoint"):
        model.fit(data, checkpoint=tmp_path / "nowhere" / "run")


@pytest.mark.parametrize("solver", ["order", "lbfgs", LBFGS()])
def test_solvers_that_cannot_continue_refuse_a_checkpoint(solver, data, tmp_path):
    with pytest.raises(ValueError, match="A checkpoint needs a table of numbers and solver='adam'"):
        Golem("ev", solver).fit(data, checkpoint=tmp_path / "run")
    batches = Golem("ev", Adam(batch_size=10), random_state=np.random.default_rng(0))
    with pytest.raises(ValueError, match="needs a whole number as random_state"):
        batches.fit(data, checkpoint=tmp_path / "run")


def forged(path, change):
    """Change the arrays of a checkpoint, and write it with their hash."""
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files if name != "sha256"}
    change(arrays)
    with path.open("wb") as file:
        np.savez(file, **arrays, sha256=np.array(checkpoint._hash_of_all(arrays)))


@pytest.mark.parametrize("state", [False, True], ids=["solution", "state"])
def test_a_changed_array_is_noticed(state, data, tmp_path, kill):
    path, model = tmp_path / "run", Golem("ev", "adam", max_iter=STEPS)
    if state:
        kill(100)
    quietly(model.fit, data, checkpoint=path)
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    for name in arrays:
        changed = np.zeros_like(arrays[name])
        if name == "about" or np.array_equal(changed, arrays[name]):
            continue
        with path.open("wb") as file:
            np.savez(file, **arrays | {name: changed})
        with pytest.raises(ValueError, match=r"was changed or is damaged\. Delete it"):
            model.fit(data, checkpoint=path)


@pytest.mark.parametrize("state", [False, True], ids=["solution", "state"])
def test_missing_and_misshaped_arrays_are_refused(state, data, tmp_path, kill):
    path, model = tmp_path / "run", Golem("ev", "adam", max_iter=STEPS)
    if state:
        kill(100)
    quietly(model.fit, data, checkpoint=path)
    good = path.read_bytes()
    with np.load(path, allow_pickle=False) as archive:
        names = [name for name in archive.files if name not in ("about", "sha256")]
    assert len(names) > 5
    for name in names:
        for change in (
            lambda arrays, name=name: arrays.pop(name),
            lambda arrays, name=name: arrays.update({name: np.zeros((2, 3, 4))}),
            lambda arrays, name=name: arrays.update({name: np.array("?")}),
        ):
            path.write_bytes(good)
            forged(path, change)
            if name.startswith("golem-ev/trace.terms.") or name.endswith("stationarity"):
                continue  # only shown, not computed with
            with pytest.raises(ValueError, match="is not a checkpoint of golem"):
                model.fit(data, checkpoint=path)


@pytest.mark.parametrize("content", ["[" * 100_000, "null", "[]", '{"golem_checkpoint": [1]}'])
def test_strange_descriptions_are_refused(content, data, tmp_path):
    path = tmp_path / "run"
    with path.open("wb") as file:
        np.savez(file, about=np.array(content))
    with pytest.raises(ValueError, match="is not a checkpoint of golem"):
        Golem("ev", "adam", max_iter=10).fit(data, checkpoint=path)
    # A method of compression that does not exist.
    content = path.read_bytes()
    at = content.index(b"PK\x01\x02") + 10
    path.write_bytes(content[:at] + b"\x63" + content[at + 1 :])
    with pytest.raises(ValueError, match="is not a checkpoint of golem"):
        Golem("ev", "adam", max_iter=10).fit(data, checkpoint=path)
