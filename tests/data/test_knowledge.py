"""Knowledge by number and by name, its contradictions, and that no solver and no baseline ever violates it."""

from __future__ import annotations

import copy
import json

import numpy as np
import pandas as pd
import pytest
import sklearn.base

from golem import Golem, Knowledge, Moments
from golem.baselines import FGS, PC, DirectLiNGAM, Notears, SortRegress
from golem.data.knowledge import as_knowledge
from golem.data.typed_edges import read_edge
from golem.graphs.dag import is_dag
from golem.output import save
from golem.readers import read_graph
from golem.simulate import simulate


def test_tiers_forbid_edges_to_earlier_ones():
    known = Knowledge.of(4, tiers=[[2], [0, 1]])
    assert known.forbidden[0, 2]
    assert known.forbidden[1, 2]
    assert not known.forbidden[2, 0]
    assert not known.forbidden[0, 1]
    assert not known.forbidden[3, 2]
    assert not known.forbidden[2, 3]


def test_the_reverse_of_a_required_edge_is_forbidden():
    known = Knowledge.of(2, required=[(0, 1)])
    assert known.forbidden[1, 0]
    np.testing.assert_array_equal(known.allowed, [[False, True], [False, False]])


def test_no_knowledge_allows_all_but_loops():
    known = Knowledge.of(3)
    assert known.is_empty
    np.testing.assert_array_equal(known.allowed, ~np.eye(3, dtype=bool))
    assert not Knowledge.of(3, forbidden=[(0, 1)]).is_empty


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"required": [(0, 1)], "forbidden": [(0, 1)]}, "0 -> 1 is both required and forbidden"),
        ({"required": [(0, 1), (1, 2), (2, 0)]}, "cycle: 0 -> 1 -> 2 -> 0"),
        ({"required": [(1, 0)], "tiers": [[0], [1]]}, "both required and forbidden"),
        ({"required": [(0, 7)]}, "node 7"),
        ({"tiers": [[0], [0, 1]]}, "Node 0 is listed twice in the tiers"),
        ({"required": [(1, 1)]}, "both required and forbidden"),
    ],
)
def test_contradictions_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        Knowledge.of(3, **arguments)


NAMES = ["age", "sex", "income", "blood pressure"]


def test_names_become_the_masks_of_their_numbers():
    named = Knowledge.named([("sex", "age")], [["age", "income"]], [["sex", "age"], ["blood pressure"]])
    numbered = Knowledge.of(4, [(1, 0)], [(0, 2)], [[1, 0], [3]])
    resolved = named.resolve(NAMES)
    np.testing.assert_array_equal(resolved.forbidden, numbered.forbidden)
    np.testing.assert_array_equal(resolved.required, numbered.required)
    # Masks say the same by name, tier by tier written out as edges.
    again = numbered.by_name(NAMES).resolve(NAMES)
    np.testing.assert_array_equal(again.forbidden, numbered.forbidden)
    np.testing.assert_array_equal(again.required, numbered.required)
    assert Knowledge.named().is_empty
    assert not named.is_empty


def test_a_file_says_the_same_as_the_call(tmp_path):
    known = Knowledge.named([("a", "b")], [("b", "c")], [["a"], ["b", "c"]])
    path = tmp_path / "knowledge.json"
    path.write_text(json.dumps(known.document()))
    assert Knowledge.read(path) == known
    path.write_text('{"tiers": [["a"], ["b"]]}')
    assert Knowledge.read(path) == Knowledge.named(tiers=[["a"], ["b"]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"required": [("a", "b"), ("b", "c"), ("c", "a")]}, "cycle: 'a' -> 'b' -> 'c' -> 'a'"),
        ({"required": [("a", "b")], "forbidden": [("a", "b")]}, "'a' -> 'b' is required and forbidden"),
        ({"required": [("b", "a")], "tiers": [["a"], ["b"]]}, "'b' is in tier 2 and 'a' in the earlier tier 1"),
        ({"required": [("a", "a")]}, "self-loops are not possible"),
        ({"tiers": [["a"], ["b", "a"]]}, "'a' is listed in tier 1 and in tier 2"),
        ({"tiers": [["a", "a"]]}, "'a' is listed in tier 1 and in tier 1"),
        ({"tiers": ["ab"]}, "tiers must be a list of groups of names, .* got the item 'ab'"),
        ({"tiers": "ab"}, "tiers must be a list of groups of names, .* got 'ab'"),
        ({"forbidden": [["a"]]}, "forbidden must be a list of pairs of names"),
        ({"required": ["ab"]}, "required must be a list of pairs of names, .* got the item 'ab'"),
        ({"required": {"a": 1}.get("b")}, "required must be a list of pairs of names, .* got None"),
        ({"forbidden": [[0, 1]]}, "For numbers use Knowledge.of"),
    ],
)
def test_contradictions_and_bad_shapes_are_named_by_names(content, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        Knowledge.named(**content)
    path = tmp_path / "knowledge.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=f"knowledge.json: .*{message}"):
        Knowledge.read(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "Expected a JSON object, got a list"),
        ("null", "Expected a JSON object, got null"),
        ("3", "Expected a JSON object, got a number"),
        ("{", "not valid JSON"),
        ('{"forbidden": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
        ('{"forbidden": ' + "[" * 900 + "]" * 900 + "}", r"got the item \[+\.\.\.\]+\."),
        ('{"forbidden": [["a", ' + "9" * 400 + "]]}", r"got \['a', 9+\.\.\.9+\]"),
        ('{"forbidden": [["a", ' + "9" * 5000 + "]]}", "limit"),
        ('{"forbiden": []}', "Unknown key 'forbiden'. Did you mean 'forbidden'"),
    ],
)
def test_other_files_are_refused(text, message, tmp_path):
    path = tmp_path / "knowledge.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        Knowledge.read(path)
    with pytest.raises(ValueError, match="There is no such file"):
        Knowledge.read(tmp_path / "none.json")
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="UTF-8"):
        Knowledge.read(path)


def test_unknown_names_come_with_the_nearest():
    with pytest.raises(ValueError, match=r"refers to 'Incme', which is not a column\. Did you mean 'income'"):
        Knowledge.named([("Incme", "age")]).resolve(NAMES)
    with pytest.raises(ValueError, match=r"'zzz', 'yyy', which are not columns\. The columns are 'age', 'sex'"):
        Knowledge.named([("zzz", "yyy")]).resolve(NAMES)


def test_knowledge_from_two_sources_is_joined():
    file, options = Knowledge.named([("a", "b")], tiers=[["a"], ["b"]]), Knowledge.named([("a", "b")], [("a", "c")])
    assert file.joined(options) == Knowledge.named([("a", "b")], [("a", "c")], [["a"], ["b"]])
    with pytest.raises(ValueError, match="'b' -> 'a' is required, but"):
        file.joined(Knowledge.named(required=[("b", "a")]))
    with pytest.raises(ValueError, match="Both sources"):
        file.joined(file)


@pytest.mark.parametrize(
    ("text", "names", "edge"),
    [
        ("a->b", ["a", "b"], ("a", "b")),
        (" a  ->  b c ", ["a", "b c"], ("a", "b c")),
        ("a->b->c", ["a->b", "c", "b"], ("a->b", "c")),
        ('"a"->"b"', ["a", "b"], ("a", "b")),
        ('"a"->"b"', ['"a"', "b"], ('"a"', "b")),
        ('"say ""x""" -> b', ['say "x"', "b"], ('say "x"', "b")),
        (" a->b", [" a", "b"], (" a", "b")),
        ('"a->b"->c', ["a->b", "c", "a", "b->c"], ("a->b", "c")),
    ],
)
def test_an_edge_in_words(text, names, edge):
    assert read_edge(text, names) == edge


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "'a' is not an edge"),
        ("a->bb", "refers to 'bb', which is not a column. Did you mean 'b'"),
        ("a->b->c", "not an edge between two columns"),
        ("x->y->z", "'x->y' -> 'z' or 'x' -> 'y->z'|'x' -> 'y->z' or 'x->y' -> 'z'"),
    ],
)
def test_words_that_are_no_edge(text, message):
    with pytest.raises(ValueError, match=message):
        read_edge(text, ["a", "b", "x", "y->z", "x->y", "z"])


def test_an_estimator_resolves_names_against_the_columns_of_each_fit(rng):
    X = rng.normal(size=(300, 1)) + rng.normal(size=(300, 3))
    known = Knowledge.named(required=[("c", "a")], forbidden=[("a", "b"), ("b", "a")])
    model = Golem(knowledge=known)
    for columns in ("abc", "cba"):
        fitted = model.fit(pd.DataFrame(X, columns=list(columns)))
        edges = {(columns[i], columns[j]) for i, j in np.argwhere(fitted.adjacency_)}
        assert ("c", "a") in edges
        assert not edges & {("a", "b"), ("b", "a")}
    with pytest.raises(ValueError, match="refers to 'a', 'b', 'c', which are not columns"):
        model.fit(X)  # x0, x1, x2
    with pytest.raises(ValueError, match=r"Knowledge\(...\), .* got list"):
        Golem(knowledge=["a"]).fit(X)


@pytest.mark.parametrize("model", [Golem("ev"), Golem("nv"), Golem(), Golem("ev", "lbfgs"), Golem("ev", "adam"),
                                   Notears(), SortRegress()])  # fmt: skip
def test_a_required_edge_of_no_weight_is_an_edge_everywhere(model, tmp_path):
    moments = Moments.from_covariance(np.diag([1.0, 2.0, 3.0]), 100, names=list("abc"))
    model.set_params(knowledge=Knowledge.named(required=[("a", "c")]))
    if model.__class__ is Golem and model.solver == "adam":
        model.set_params(max_iter=10)
    model.fit(moments)
    only = np.zeros((3, 3), dtype=bool)
    only[0, 2] = True
    np.testing.assert_array_equal(model.adjacency_, only)
    np.testing.assert_array_equal(model.sem_.adjacency, only)
    np.testing.assert_array_equal(model.cpdag_, only | only.T)
    off_diagonal = model.sem_.covariance - np.diag(np.diagonal(model.sem_.covariance))
    np.testing.assert_allclose(off_diagonal, 0, atol=1e-12)
    if isinstance(model, Golem):
        assert not model.undecided_.any()
        save(model, tmp_path)
        for name in ("graph.json", "edges.csv", "weights.csv"):
            np.testing.assert_array_equal(read_graph(tmp_path / name).aligned(moments.names) != 0, only)


def draw_knowledge(rng, d):
    """Draw required edges along a hidden order, forbidden ones, and sometimes tiers; from nothing to everything."""
    order = rng.permutation(d)
    place = np.argsort(order)
    required = (rng.random((d, d)) < rng.choice([0, 0.1, 0.3, 0.6])) & (place[:, None] < place[None, :])
    forbidden = (rng.random((d, d)) < rng.choice([0, 0.1, 0.3, 0.7, 1])) & ~required
    tier = np.where(rng.random(d) < 0.7, 3 * place // d, -1)
    tiers = [np.nonzero(tier == t)[0].tolist() for t in range(3)] if rng.random() < 0.4 else []
    return Knowledge.of(d, np.argwhere(forbidden).tolist(), np.argwhere(required).tolist(), tiers)


LEARNERS = {
    "order-ev": lambda known: Golem("ev", knowledge=known),
    "order-nv": lambda known: Golem("nv", knowledge=known),
    "order": lambda known: Golem(knowledge=known),
    "lbfgs": lambda known: Golem("ev", "lbfgs", max_iter=30, threshold=0.05, knowledge=known),
    "gentle": lambda known: Golem("ev", "lbfgs", max_iter=15, threshold=0, cycles="gentle", knowledge=known),
    "adam": lambda known: Golem("nv", "adam", max_iter=30, threshold=0.05, knowledge=known),
    "adam-auto": lambda known: Golem("auto", "adam", init="zeros", max_iter=30, threshold=0.05, knowledge=known),
    "notears": lambda known: Notears(max_iter=20, knowledge=known),
    "fgs": lambda known: FGS(knowledge=known),
    "pc": lambda known: PC(knowledge=known),
    "direct-lingam": lambda known: DirectLiNGAM(knowledge=known),
    "sort-regress-var": lambda known: SortRegress("variance", knowledge=known),
    "sort-regress-r2": lambda known: SortRegress("r2", knowledge=known),
}


def check_that_knowledge_is_obeyed(name, problems, seed):
    """Learn from random data under random knowledge; return how many graphs came out."""
    rng = np.random.default_rng(seed)
    learned = 0
    for _ in range(problems):
        # Beyond 12 columns the orders are searched, not enumerated.
        d = int(rng.integers(2, 7)) if rng.random() < 0.9 else 14
        mixing = np.eye(d) + np.triu(rng.normal(size=(d, d)) * (rng.random((d, d)) < 0.5), 1)
        X = (rng.normal(size=(60, d)) * rng.uniform(0.5, 2, d)) @ mixing
        known = draw_knowledge(rng, d)
        try:
            model = LEARNERS[name](known).fit(X[:, rng.permutation(d)])
        except ValueError as error:
            if "which knowledge cannot change" not in str(error):  # the orders of SortRegress are what they are
                raise
            continue
        learned += 1
        told = model.cpdag_
        assert not (told & ~told.T & known.forbidden).any()
        assert (told | ~known.required).all()
        if not hasattr(model, "adjacency_"):
            assert name == "pc"  # its tests may contradict each other
            continue
        assert is_dag(model.adjacency_)
        assert not (model.adjacency_ & known.forbidden).any()
        assert (model.adjacency_ | ~known.required).all()
        if isinstance(model, Golem):
            assert not (model.undecided_ & (known.required | known.forbidden.T)).any()
    return learned


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::golem.DataWarning")
@pytest.mark.parametrize("name", LEARNERS)
def test_no_method_violates_knowledge(name):
    assert check_that_knowledge_is_obeyed(name, 12, seed=0) >= 4


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::golem.DataWarning")
@pytest.mark.parametrize("name", LEARNERS)
def test_no_method_violates_knowledge_over_thousands_of_masks(name):
    assert check_that_knowledge_is_obeyed(name, 1000, seed=1) >= 300


def test_a_refit_on_other_rows_obeys_too(rng):
    drawn = simulate(8, 300, "ER2", "gaussian-nv", random_state=0)
    known = draw_knowledge(np.random.default_rng(3), 8)
    assert known.required.any()
    assert known.forbidden.sum() > 8
    model = Golem(knowledge=known)
    for _ in range(20):
        again = model.fit(drawn.data[rng.integers(300, size=300)])
        assert not (again.adjacency_ & known.forbidden).any()
        assert (again.adjacency_ | ~known.required).all()


def test_masks_of_ones_and_zeros_are_masks():
    known = Knowledge(np.eye(3, dtype=int), np.zeros((3, 3), dtype=int))
    assert known.forbidden.dtype == known.required.dtype == bool
    with pytest.raises(ValueError, match="same square shape"):
        Knowledge(np.zeros((2, 3), dtype=bool), np.zeros((2, 3), dtype=bool))
    with pytest.raises(ValueError, match="only true and false"):
        Knowledge(np.full((2, 2), 0.5), np.zeros((2, 2)))
    assert not Knowledge(np.eye(3)).required.any()


def test_names_can_be_given_in_a_dictionary_or_without_a_method():
    expected = Knowledge.named(forbidden=[("a", "b")], tiers=[["a"], ["b"]])
    assert Knowledge(forbidden=[("a", "b")], tiers=[["a"], ["b"]]) == expected
    assert as_knowledge({"forbidden": [("a", "b")], "tiers": [["a"], ["b"]]}) == expected
    with pytest.raises(ValueError, match="Unknown key 'tier'"):
        as_knowledge({"tier": [["a"]]})
    known = copy.deepcopy(Knowledge(np.eye(3)))
    assert not known.required.any()


def test_a_pattern_in_tiers_stands_for_the_columns_that_are_not_named():
    known = Knowledge(tiers=[["age"], ["T*"], ["*"], ["y"]], required=[("T1", "z")])
    assert known.expanded(["y", "T1", "z", "age", "T2"]).tiers == (("age",), ("T1", "T2"), ("z",), ("y",))
    masks = known.resolve(["y", "T1", "z", "age", "T2"])
    np.testing.assert_array_equal(masks.forbidden[0], [True] * 5)  # y comes last
    with pytest.raises(ValueError, match=r"refers to 'T1', 'T\*', which are not columns"):
        known.resolve(["y", "z", "age"])


def test_a_model_obeys_tiers_given_as_a_dictionary(rng):
    X = pd.DataFrame(rng.normal(size=(300, 1)) + rng.normal(size=(300, 4)), columns=["y", "a", "b", "age"])
    model = Golem(knowledge={"tiers": [["age"], ["*"], ["y"]]}).fit(X)
    assert not model.adjacency_[0].any()
    assert not model.adjacency_[:, 3].any()
    assert sklearn.base.clone(model).get_params()["knowledge"] == model.knowledge


def test_a_group_of_tetrad_is_the_list_of_its_edges(tmp_path):
    groups, edges = tmp_path / "groups.txt", tmp_path / "edges.txt"
    groups.write_text('/knowledge\nforbiddengroup\na "b c"\nd\n\nd\na\nRequiredGroup\na\n"b c" e\n')
    edges.write_text('forbiddirect\na d\n"b c" d\nd a\nrequiredirect\na "b c"\na e\n')
    assert Knowledge.read(groups) == Knowledge.read(edges)
    groups.write_text("forbiddengroup\na\nrequiredgroup\nb\n")
    with pytest.raises(ValueError, match=r"Line 3 .* 'requiredgroup'\. Expected the second line of a group"):
        Knowledge.read(groups)
