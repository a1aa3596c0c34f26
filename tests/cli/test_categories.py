"""The command line on tables with categories."""

import json

import numpy as np
import pandas as pd
import pytest

from command_line import golem
from golem import GolemCV


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b"], 80)
    size = 2.0 * (kind == "a") + rng.normal(size=80)
    return pd.DataFrame({"kind": kind, "size": size, "cost": size + rng.normal(size=80)})


def test_a_fit_prints_writes_and_repeats(table, tmp_path):
    table.to_csv(tmp_path / "data.csv", index=False)
    result = golem(
        "fit", "-v", tmp_path / "data.csv", "-o", tmp_path / "out", "--bootstrap", 4, "--no-diagnose", "--scatter"
    )
    assert "There are no scatter plots (--scatter), because the table has categories." in result.output
    assert "learned from random halves of the rows" in result.output
    for text in (result.output, (tmp_path / "out" / "report.html").read_text()):
        assert "some low frequencies are due to the smaller number of rows" in " ".join(text.split())
    assert "strength: how much worse the fit (deviance) gets without the edge" in result.output
    assert "score for mixed tables (degenerate Gaussian)" in result.output
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "graph.json", "edges.csv", "coefficients.csv", "graph.png", "report.html",
    }  # fmt: skip
    document = json.loads((tmp_path / "out" / "graph.json").read_text())
    assert [one["kind"] for one in document["variables"]] == ["category", "numeric", "numeric"]
    edges = {frozenset((edge["source"], edge["target"])): edge for edge in document["edge_table"]}
    between = edges[frozenset(("size", "cost"))]
    assert between["weight_low"] <= between["weight"] <= between["weight_high"]
    assert edges[frozenset(("kind", "size"))]["weight_low"] is None
    assert edges[frozenset(("kind", "size"))]["adjacency_frequency"] == 1
    again = golem("fit", "-v", "--from", tmp_path / "out" / "graph.json", "-o", tmp_path / "again", "--no-diagnose")
    assert "the data are the same; the graph is the same" in " ".join(again.output.split())


def test_the_loss_of_score_is_printed_next_to_the_strength(table, tmp_path):
    table.to_csv(tmp_path / "data.csv", index=False)
    output = golem("fit", "-v", tmp_path / "data.csv", "-o", tmp_path / "out", "--no-diagnose").output
    edges = pd.read_csv(tmp_path / "out" / "edges.csv")
    lines = [line.split() for line in output.splitlines()]
    assert ["edge", "strength", "loss"] in [line[:3] for line in lines]
    listed = lines[next(k for k, line in enumerate(lines) if line[:3] == ["edge", "strength", "loss"]) + 1 :]
    for line, edge in zip(listed, edges.itertuples(), strict=False):
        assert {line[0], line[2]} == {edge.source, edge.target}
        assert [float(number) for number in line[3:5]] == pytest.approx([edge.edge_strength, edge.drop_loss], rel=0.01)
    assert "loss: the same for the score, which includes the penalty; near 0, the edge was barely kept" in output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--select", "bic"], "only for tables of numbers, and this one has categories"),
        (["--score", "bdeu"], "needs a table of categories, but 2 columns are numbers: 'size', 'cost'"),
        (["--noise", "ev"], "has no equal noise variances"),
        (["--solver", "lbfgs"], "needs --solver order."),
        (["--solver", "lbfgs", "--threshold", "0.1"], "needs --solver order without --threshold 0.1."),
        (["--threshold", "0.1"], "Leave it out, or, for a table of numbers, use --solver lbfgs."),
        (["--certificate"], "A certificate needs a table of numbers and --noise ev"),
        (["--certificate", "--noise", "ev"], "this one has categories. Leave it out, and use --noise auto."),
    ],
)
def test_options_for_numbers_are_refused(table, tmp_path, options, message):
    table.to_csv(tmp_path / "data.csv", index=False)
    result = golem("fit", tmp_path / "data.csv", "-o", tmp_path / "out", *options, expect=1)
    assert message in result.output


def test_a_penalty_is_chosen_only_for_numbers(table):
    with pytest.raises(ValueError, match="only for tables of numbers"):
        GolemCV(select="bic").fit(table)


@pytest.mark.parametrize(("options", "levels"), [((), "Note: "), (("--no-diagnose",), "Warning: ")])
def test_a_level_with_one_row_is_reported_once(table, tmp_path, options, levels):
    table.assign(kind=["c", *table["kind"][1:]]).to_csv(tmp_path / "data.csv", index=False)
    output = golem("fit", "-v", tmp_path / "data.csv", "-o", tmp_path / "out", *options).output
    (line,) = [line for line in output.splitlines() if "only one row" in line]
    assert line.startswith(f"{levels}'kind' ('c')")


def test_the_report_has_the_types_that_golem_chose(table, tmp_path):
    for codes in (table, table[["kind"]]):
        codes.assign(ward=np.arange(80) % 4).to_csv(tmp_path / "data.csv", index=False)
        golem("fit", tmp_path / "data.csv", "-o", tmp_path / "out", "--no-diagnose")
        page = (tmp_path / "out" / "report.html").read_text()
        assert page.count("use --categorical ward.</p>") == 1


def test_the_suggested_command_makes_all_items_categories(tmp_path):
    items = pd.DataFrame(np.random.default_rng(0).integers(1, 4, size=(200, 12))).add_prefix("T")
    items.to_csv(tmp_path / "data.csv", index=False)
    quick = ("--no-diagnose", "--evidence", "fast", "--effort", "fast")
    fit = ("fit", tmp_path / "data.csv", "-o", tmp_path / "out", *quick)
    found = " ".join(golem(*fit, "-v").output.split())
    assert "12 columns contain only a few distinct whole numbers and are treated as numeric" in found
    assert "use --categorical all." in found
    assert "(12 categories)" in golem(*fit, "--categorical", "all").output
    found = golem(*fit, "--categorical", "T1*", "--numeric", "all", expect=1).output
    assert "Use either --categorical T1,T10," in found
    found = golem(*fit, "--categorical", "all", "--numeric", "T7", "--lambda-sparsity", "bic").output
    assert "(1 number, 11 categories)" in found
    assert "few distinct" not in golem(*fit, "--numeric", "T*").output
    assert "No column matches 'Q*' (--numeric 'Q*')" in golem(*fit, "--numeric", "Q*", expect=1).output


def test_a_refused_table_is_summarized(table, tmp_path):
    table.assign(name=[f"id{k}" for k in range(80)]).to_csv(tmp_path / "data.csv", index=False)
    output = golem("fit", "-v", "--strict", tmp_path / "data.csv", "-o", tmp_path / "out", expect=1).output
    assert output.index("Table: 80 rows, 4 columns (2 numbers, 1 category, 1 text)") < output.index("Error: ")
    assert "Drop it: --drop name. To keep 'name', group its values." in output


def _compared(table, folder, *options):
    table.to_csv(folder / "data.csv", index=False)
    return " ".join(golem("compare", "-v", folder / "data.csv", "-o", folder / "out", *options).output.split())


@pytest.mark.usefixtures("methods_here")
def test_compare_says_how_it_uses_codes(table, tmp_path):
    codes = np.arange(80) % 4
    found = _compared(pd.DataFrame({"ward": codes, "bed": codes // 2}), tmp_path, "--methods", "order")
    assert "2 columns contain only a few distinct whole numbers and are treated as numeric" in found
    assert "use --categorical all." in found
    assert "DataWarning" not in found
    found = _compared(table[["size"]].assign(ward=codes), tmp_path, "--methods", "order")
    assert "Table: 80 rows, 2 columns (2 numbers)" in found
    assert "1 column contains only a few distinct whole numbers and is treated as numeric: 'ward' (4 values)." in found
    assert "use --categorical ward." in found


@pytest.mark.usefixtures("methods_here")
def test_compare_names_the_methods_that_need_numbers(table, tmp_path):
    note = "Not run, they need numbers, and this table has categories: order-ev, notears"
    assert note in _compared(table, tmp_path)
    assert note not in _compared(table, tmp_path, "--methods", "order")


@pytest.mark.usefixtures("methods_here")
def test_compare_warns_of_levels_with_one_row(table, tmp_path):
    once = table.assign(kind=["c", *table["kind"][1:]])
    found = _compared(once, tmp_path, "--methods", "order")
    assert found.count("Warning: 'kind' ('c') has levels with only one row") == 1
    assert "Warning" not in _compared(once, tmp_path, "--methods", "order", "--quiet")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["size", "ward"], "order-bdeu needs categories, but all columns are numbers. Use order, or declare the "
        "columns that are categories, e.g. --categorical ward."),
        (["kind", "ward"], "order-bdeu needs a table of categories, but 1 column is a number: 'ward'. Use order-mixed. "
        "If these numbers are codes of categories, use --categorical ward."),
    ],
)  # fmt: skip
def test_compare_names_options_in_the_messages_of_methods(table, tmp_path, columns, message):
    options = ("--numeric", "ward", "--methods", "order,order-bdeu")
    assert message in _compared(table.assign(ward=np.arange(80) % 4)[columns], tmp_path, *options)
    assert message in (tmp_path / "out" / "comparison.csv").read_text()


def test_categories_that_others_determine_are_dropped_on_request(table, tmp_path):
    kind = np.random.default_rng(1).choice(["a", "b", "c"], len(table))
    table = table.rename(columns={"kind": "flag"})
    own = {"group": np.where(kind == "a", "A", "B"), "kind": kind, "copy": [f"kind {level}" for level in kind]}
    table.assign(**own).to_csv(tmp_path / "data.csv", index=False)
    typed = ["fit", tmp_path / "data.csv", "-o", tmp_path / "out", "--drop-dependent"]
    for more in ([], ["--columns", "group,kind,copy,flag"], ["--missing", "drop"], ["--missing", "em"]):
        said = golem(*typed, *more).output
        assert "Left out: 'group'" in said
        assert "'copy' (copy" in said.replace("'copy' (linear", "'copy' (copy")
        assert "determined by others" not in said
    gaps = table.assign(**own, cost=table["cost"].where(np.arange(80) > 9), void="")
    # Others determine one level of this category, which is no reason to drop it.
    gaps = gaps.assign(shared=np.where(kind == "a", "unknown", np.where(np.arange(80) % 3, "u", "v")))
    gaps.to_csv(tmp_path / "data.csv", index=False)
    said = golem(*typed, "--missing", "em").output
    assert "Left out: 'group'" in said
    assert "'void' (no values)" in said
    # Without the request, these categories are no reason to refuse the table, nor do messages name them as such.
    table.assign(**own, one="x").to_csv(tmp_path / "data.csv", index=False)
    assert "Column 'one' is constant. Drop it: --drop one," in golem(*typed[:-1], "--strict", expect=1).output
