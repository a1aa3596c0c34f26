"""Tables with variables in rows."""

import numpy as np
import pytest

from golem import Golem, fit_file
from golem.data.reading import Reading
from golem.data.source import Purpose, open_source
from golem.data.wide_columns import WideMoments
from golem.runtime.progress import ProgressDisplay

VALUES = np.random.default_rng(0).normal(size=(3, 40))


def read(path, **how):
    """Return the table of a file with variables in rows."""
    return open_source([str(path)], Reading(transpose=True), Purpose(checked=True, **how)).read(
        "error", ProgressDisplay()
    )


@pytest.mark.parametrize("head", ["gene", ""])
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_rows_of_a_table_become_columns(tmp_path, head, ending):
    path = tmp_path / f"genes{ending}"
    frame = pytest.importorskip("pandas").DataFrame(
        VALUES, index=["TP53", "MYC", "b"], columns=[f"s{k}" for k in range(40)]
    )
    frame.index.name = head or None
    frame.to_csv(path) if ending == ".csv" else frame.to_parquet(path)
    table = read(path)
    assert table.names == ("TP53", "MYC", "b")
    assert table.n == 40
    assert np.allclose(table.moments().covariance, np.cov(VALUES, bias=True))


def test_an_array_can_have_variables_in_rows(tmp_path):
    np.save(tmp_path / "a.npy", VALUES.astype(np.float16))
    dense, sparse = read(tmp_path / "a.npy"), read(tmp_path / "a.npy", statistics="sparse")
    assert dense.names == sparse.names == ("x0", "x1", "x2")
    assert isinstance(sparse.moments(), WideMoments)
    assert np.allclose(dense.moments().covariance, sparse.moments().covariance, atol=1e-5)


def test_names_of_rows_must_differ(tmp_path):
    (tmp_path / "a.csv").write_text("gene,s1,s2\na,1,2\na,2,1\n")
    with pytest.raises(ValueError, match="must be unique; repeated: 'a'"):
        read(tmp_path / "a.csv")


def test_only_one_file_can_be_transposed(tmp_path):
    for name in "ab":
        np.save(tmp_path / f"{name}.npy", VALUES)
    with pytest.raises(ValueError, match="Only one file"):
        fit_file([tmp_path / "a.npy", tmp_path / "b.npy"], tmp_path / "out", transpose=True)


@pytest.mark.parametrize(
    ("text", "refused"),
    [("a,b\n1,u\n2,v\n3,u\n1,v\n", "Categories need"), ("a,b\n1,\n2,3\n3,1\n1,2\n", "missing values")],
)
def test_what_only_covariances_can_do_is_refused(tmp_path, text, refused):
    (tmp_path / "a.csv").write_text(text)
    source = open_source([str(tmp_path / "a.csv")], Reading(), Purpose(statistics="sparse"))
    with pytest.raises(ValueError, match=refused):
        source.read("error", ProgressDisplay())


@pytest.mark.filterwarnings("ignore:n = ")
def test_a_fit_of_very_many_columns_writes_what_it_can_check(tmp_path):
    rows = np.random.default_rng(1).normal(size=(30, 200))
    rows[2] += rows[0] + rows[1]
    np.save(tmp_path / "genes.npy", rows)
    result = fit_file(tmp_path / "genes.npy", tmp_path / "out", Golem(statistics="sparse"), transpose=True)
    assert [(edge.source, edge.target) for edge in result.model.edges_] == [("x0", "x2"), ("x1", "x2")]
    assert {"rows-needed", "directions", "limits"} <= {one.name for one in result.diagnosis.findings}
    assert {"edges.csv", "graph.json", "report.html"} <= {path.name for path in result.output.iterdir()}
