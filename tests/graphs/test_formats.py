"""Every format read back is what was written, by us and by independent readers; the grammars of others are read."""

from __future__ import annotations

import dataclasses
import io
import itertools
import json
import re
import unicodedata
import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golem.graphs.edges import Edges
from golem.graphs.formats import FORMATS, format_of, read_graph, read_graph_document
from golem.graphs.formats.csv_tables import write_truth
from golem.graphs.formats.dot import read_dot
from golem.graphs.named_graph import NamedGraph

# Whatever UTF-8 can hold: quotes, line breaks, control characters, right-to-left marks.
hostile_names = st.one_of(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=8),
    st.sampled_from(
        ['"', "a b", "<b>&amp;", "ä\n\r\tβ", "\\", 'x\\"', "node", "graph", "-1", "1.5", "[]", "a->b", "'", ","]
    ),
).filter(lambda name: name.strip())
numbers = st.floats(allow_nan=False, allow_infinity=False)
# The first draw can be slow.
examples = settings(deadline=None, max_examples=60)
EVERYTHING = ("graphml", "gml", "dot", "json")


@st.composite
def graphs(draw, names=hostile_names, weighted=None):
    """Random DAGs over named nodes in any order, isolated ones among them, with columns of all kinds."""
    listed = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    d = len(listed)
    adjacency = np.zeros((d, d), dtype=bool)
    adjacency[np.triu_indices(d, 1)] = draw(
        st.lists(st.booleans(), min_size=d * (d - 1) // 2, max_size=d * (d - 1) // 2)
    )
    order = draw(st.permutations(range(d)))
    adjacency = adjacency[np.ix_(order, order)]
    edges = int(adjacency.sum())

    def vector(values, size):
        return np.array(draw(st.lists(values, min_size=size, max_size=size)), dtype=None if size else float)

    has_weights = draw(st.booleans()) if weighted is None else weighted
    weights = {"weight": vector(numbers, edges)} if has_weights or not edges else {}
    columns = {}
    if edges and draw(st.booleans()):
        columns = {
            "standardized_weight": vector(numbers, edges),
            "directed": vector(st.booleans(), edges).astype(bool),
            "direction_frequency": vector(st.one_of(numbers, st.just(np.nan)), edges),
        }
        columns = {name: column for name, column in columns.items() if not np.isnan(column.astype(float)).all()}
        columns["direction_from"] = vector(st.sampled_from(["structure", "shape", "none"]), edges)
    positive = st.floats(min_value=0, exclude_min=True, allow_infinity=False)
    has_model = draw(st.booleans()) if weighted is None else weighted
    return NamedGraph(
        tuple(listed),
        Edges.from_matrix(adjacency),
        weights | columns,
        vector(positive, d) if has_model else None,
        vector(numbers, d) if has_model else None,
    )


def assert_same(found, expected):
    assert found.names == expected.names
    assert found.weighted == expected.weighted
    # To the last bit, zeros with a sign too.
    assert found.weights.tobytes() == expected.weights.tobytes()
    np.testing.assert_array_equal(found.adjacency, expected.adjacency)
    assert set(found.edge_columns) == set(expected.edge_columns)
    for name, column in expected.edge_columns.items():
        np.testing.assert_array_equal(found.edge_columns[name], column)
    for name in ("noise_variances", "intercepts"):
        np.testing.assert_equal(getattr(found, name), getattr(expected, name))


def can_write(name, text):
    """Tell by the rules of a format, not of ours, whether it can hold a name."""
    if name == "graphml":  # XML 1.0, section 2.2
        return all(c in "\t\n\r" or (c >= " " and c not in "\ufffe\uffff") for c in text)
    if name == "dot":
        for end in ('"', "\n", "\r"):
            text = text.replace(end, "\x01")
        runs = [len(piece) - len(piece.rstrip("\\")) for piece in text.split("\x01")]
        return "\0" not in text and all(run % 2 == 0 for run in runs)
    if name == "causal-learn":
        return ";" not in text and not any(c.isspace() for c in text)
    return name != "pgmpy" or text != "(Intercept)"


@pytest.mark.parametrize("name", EVERYTHING)
@examples
@given(graphs())
def test_what_was_written_is_read(name, graph):
    if not all(can_write(name, text) for text in graph.names):
        with pytest.raises(ValueError, match="cannot store"):
            FORMATS[name].write(graph)
        return
    assert_same(FORMATS[name].read(FORMATS[name].write(graph)), graph)


@pytest.mark.parametrize("name", EVERYTHING)
@examples
@given(graphs(st.sampled_from(["a b", 'q"q', "<é>", "n\nl", "x&y;", "日本", "{}", "# c", "// d"])))
def test_names_of_everyday_trouble_are_never_refused(name, graph):
    assert_same(FORMATS[name].read(FORMATS[name].write(graph)), graph)


@examples
@given(graphs(weighted=True))
def test_pgmpys_json_keeps_the_model(graph):
    found = FORMATS["pgmpy"].read(FORMATS["pgmpy"].write(graph))
    assert_same(found, dataclasses.replace(graph, edge_columns={"weight": graph.edge_columns["weight"]}))


@examples
@given(graphs())
def test_causal_learns_text_keeps_the_edges(graph):
    # Older files of Tetrad separate nodes by commas, so that one node with a comma would be two.
    alone = len(graph.names) == 1 and "," in graph.names[0]
    if alone or not all(can_write("causal-learn", text) for text in graph.names):
        with pytest.raises(ValueError, match="cannot store names with blanks or semicolons"):
            FORMATS["causal-learn"].write(graph)
        return
    for written in (graph, graph.equivalence_class()):
        found = FORMATS["causal-learn"].read(FORMATS["causal-learn"].write(written))
        assert found.names == written.names
        np.testing.assert_array_equal(found.adjacency, written.partially_directed().adjacency)


STRUCTURE = {"dagitty": '"\\\n\r', "bnlearn": '[]|:"\n\r', "lavaan": "", "pcalg": ""}


@pytest.mark.parametrize("name", STRUCTURE)
@examples
@given(graphs())
def test_formats_of_r_packages_keep_the_edges(name, graph):
    outer = name in ("bnlearn", "pcalg") and any(text != text.strip() for text in graph.names)
    if outer or any(mark in text for text in graph.names for mark in STRUCTURE[name]):
        with pytest.raises(ValueError, match="cannot store"):
            FORMATS[name].write(graph)
        return
    found = FORMATS[name].read(FORMATS[name].write(graph))
    assert sorted(found.names) == sorted(graph.names)
    shown = graph if FORMATS[name].needs_directions else graph.partially_directed()
    assert {edge[:2] for edge in found.edge_list()} == {edge[:2] for edge in shown.edge_list()}
    if name == "dagitty":
        np.testing.assert_array_equal(found.weights, shown.weights)
    whole = graph.equivalence_class()
    if name in ("dagitty", "pcalg"):  # the others have no lines
        np.testing.assert_array_equal(FORMATS[name].read(FORMATS[name].write(whole)).adjacency, whole.adjacency)
    elif (whole.adjacency != graph.adjacency).any():
        with pytest.raises(ValueError, match="Export without cpdag=True"):
            FORMATS[name].write(whole)


def test_formats_of_r_packages_as_their_manuals_write_them():
    names, edges = ["age", "blood pressure", "c"], [("age", "blood pressure", {}), ("blood pressure", "c", {})]
    graph = NamedGraph.from_lists(names, edges)
    assert FORMATS["bnlearn"].write(graph) == "[age][blood pressure|age][c|blood pressure]\n"
    written = '# blood_pressure is "blood pressure"\nblood_pressure ~ age\nc ~ blood_pressure\n'
    assert FORMATS["lavaan"].write(graph) == written
    # In pcalg's amat.cpdag, a 1 in row b and column a is a -> b.
    assert FORMATS["pcalg"].write(graph).splitlines()[2] == "blood pressure,1,0,0"
    code = 'dag { bb="0,0,1,1" a [exposure,pos="0.1,0.2"] b [outcome] "c d"\na -> b; a -> {"c d" e} <- b }'
    found = FORMATS["dagitty"].read(code)
    assert found.names == ("a", "b", "c d", "e")
    pairs = {("a", "b"), ("a", "c d"), ("a", "e"), ("b", "c d"), ("b", "e")}
    assert {edge[:2] for edge in found.edge_list()} == pairs
    assert FORMATS["dagitty"].read("dag { a <- b [beta=-.5] }").weights[1, 0] == -0.5
    model = "# a comment\ny ~ 1 + b1*x1 + start(0.5)*x2; x2 ~~ x2\ny2 + y3 ~ x1 ! the rest"
    pairs = {("x1", "y"), ("x2", "y"), ("x1", "y2"), ("x1", "y3")}
    assert {edge[:2] for edge in FORMATS["lavaan"].read(model).edge_list()} == pairs


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dagitty", "dag { a <-> b }"),
        ("dagitty", "mag { a -> b }"),
        ("dagitty", "dag { a -> "),
        ("dagitty", "dag { a -> b } c"),
        ("lavaan", "f =~ x1 + x2"),
        ("lavaan", "x1 ~~ x2"),
        ("lavaan", "y ~ x 1"),
        ("bnlearn", "[a][b|c]"),
        ("bnlearn", "[a][a]"),
        ("pcalg", "amat.cpdag,a,b\na,0,1\n"),
        ("causal-learn", "Graph Nodes:\na;b\n\nGraph Edges:\n1. a -> b\n"),
        ("causal-learn", "Graph Nodes:\na;b\n\nGraph Edges:\n1. a --> c\n"),
    ],
)
def test_what_is_no_dag_in_these_formats_is_refused(name, text, tmp_path):
    (tmp_path / "graph").write_text(text)
    with pytest.raises(ValueError, match=f"not a graph in the format {name}: "):
        read_graph(tmp_path / "graph")


@pytest.mark.parametrize("nodes", ["raf;blood pressure;akt", "raf,blood pressure,akt", "raf; blood pressure; akt"])
def test_graphs_of_tetrad(nodes, tmp_path):
    edges = "1. raf --> blood pressure dd nl\n2. blood pressure --- akt [akt --- x]:0.5;\n3. akt <-- raf"
    text = f"Graph Nodes:\n{nodes}\n\nGraph Edges:\n{edges}\n\nGraph Attributes:\nBIC: -3.5\n"
    (tmp_path / "graph.txt").write_text(text)
    graph = read_graph(tmp_path / "graph.txt")
    assert graph.names == ("raf", "blood pressure", "akt")
    np.testing.assert_array_equal(graph.adjacency, [[0, 1, 1], [0, 0, 1], [0, 1, 0]])


@examples
@given(graphs())
def test_tables_keep_weights_and_columns(graph):
    # The spaces around a name are cut, so that tables may be laid out by hand.
    if any(name != name.strip() for name in graph.names):
        for name in ("csv", "matrix"):
            with pytest.raises(ValueError, match="cannot store the white space around"):
                FORMATS[name].write(graph)
        return
    matrix = FORMATS["matrix"].read(FORMATS["matrix"].write(graph))
    assert matrix.names == graph.names
    assert matrix.weights.tobytes() == (graph.weights + 0.0).tobytes()  # in a matrix, -0 is not an edge either
    edges = FORMATS["csv"].read(FORMATS["csv"].write(graph))
    listed = {(source, target): values for source, target, values in edges.edge_list()}
    assert listed == {(source, target): values for source, target, values in graph.edge_list()}


@pytest.mark.parametrize(("name", "ending"), [("graphml", "graphml"), ("gml", "gml"), ("dot", "gv"), ("json", "json")])
def test_files_are_recognized_by_what_they_hold(tmp_path, name, ending):
    graph = NamedGraph.from_lists(["graph", "x\ry", "c"], [("graph", "x\ry", {"weight": 0.5})])
    right, wrong = tmp_path / f"graph.{ending}", tmp_path / "graph.bin"
    for path in (right, wrong):
        path.write_bytes(FORMATS[format_of(right)].write(graph).encode())
        assert_same(read_graph(path), graph)
    assert format_of(right) == name
    with pytest.raises(ValueError, match=r"extension is unknown\. Use one of \.graphml.*name a format: graphml"):
        format_of(wrong)


def xml_names():
    return hostile_names.filter(lambda text: can_write("graphml", text))


@examples
@given(graphs(xml_names()))
def test_networkx_reads_our_graphml(graph):
    found = nx.read_graphml(io.BytesIO(FORMATS["graphml"].write(graph).encode()))
    assert found.is_directed()
    assert dict(found.nodes(data=True)) == dict(graph.node_list())
    assert list(found.edges(data=True)) == graph.edge_list()


# NetworkX takes these two labels for empty lists.
@examples
@given(graphs(hostile_names.filter(lambda text: text not in ("[]", "()"))))
def test_networkx_reads_our_gml_and_we_read_its(graph):
    found = nx.parse_gml(FORMATS["gml"].write(graph).splitlines())
    assert found.is_directed()
    assert dict(found.nodes(data=True)) == dict(graph.node_list())
    assert list(found.edges(data=True)) == graph.edge_list()
    assert_same(FORMATS["gml"].read("\n".join(nx.generate_gml(found))), graph)


EDGE_LIST = "source,target,weight,std error,p-value,p<0.05,5%,len_1,z\na,b,2,0.5,0.25,1,-3,7,8\nb,c,1,,0.75,0,4,,9\n"


@pytest.mark.parametrize("name", EVERYTHING)
def test_columns_of_any_name_come_back(name, tmp_path):
    (tmp_path / "edges.csv").write_text(EDGE_LIST)
    graph = read_graph(tmp_path / "edges.csv")
    assert list(graph.edge_columns) == ["weight", "std error", "p-value", "p<0.05", "5%", "len_1", "z"]
    (tmp_path / "graph").write_text(FORMATS[name].write(graph))
    found = read_graph(tmp_path / "graph")
    if name == "gml":
        keys = ["weight", "std_error", "p_value", "p_0_05", "x5_", "len_1", "z"]
        graph = dataclasses.replace(graph, edge_columns=dict(zip(keys, graph.edge_columns.values(), strict=True)))
    assert_same(found, graph)
    if name in ("graphml", "gml"):
        theirs = nx.read_graphml(tmp_path / "graph") if name == "graphml" else nx.read_gml(tmp_path / "graph")
        assert list(theirs.edges(data=True)) == graph.edge_list()


@pytest.mark.parametrize("name", ["graphml", "dot", "json"])
@examples
@given(hostile_names.filter(lambda text: text in ("node", "graph") or not text.isidentifier()))
def test_columns_of_hostile_names_come_back_or_are_refused(name, column):
    graph = NamedGraph.from_lists("ab", [("a", "b", {"weight": 0.5, column: 2.0})])
    assert list(graph.edge_columns) == ["weight", column]
    if not can_write(name, column):
        with pytest.raises(ValueError, match="cannot store"):
            FORMATS[name].write(graph)
        return
    assert_same(FORMATS[name].read(FORMATS[name].write(graph)), graph)


@pytest.mark.parametrize("columns", [["p value", "p-value"]])
def test_gml_refuses_columns_that_fall_together(columns):
    graph = NamedGraph.from_lists("ab", [("a", "b", dict.fromkeys(columns, 0.5))])
    with pytest.raises(ValueError, match=rf"GML cannot store the edge columns .*'{columns[-1]}' together"):
        FORMATS["gml"].write(graph)


def test_dot_refuses_columns_that_graphviz_draws_by():
    graph = NamedGraph.from_lists("ab", [("a", "b", {"dir": 1.0, "effect": 2.0})])
    with pytest.raises(ValueError, match="DOT cannot store the edge columns 'dir'"):
        FORMATS["dot"].write(graph)


def test_igraph_reads_our_files(tmp_path):
    igraph = pytest.importorskip("igraph")
    graph = NamedGraph.from_lists(
        ["a b", 'q"<é>', "alone"],
        [("a b", 'q"<é>', {"weight": -0.1, "directed": False})],
        [{"noise_variance": 1.5, "intercept": 0.0}] * 3,
    )
    for name, key in (("graphml", "id"), ("gml", "label")):
        path = tmp_path / f"graph.{name}"
        path.write_text(FORMATS[name].write(graph), encoding="utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # igraph writes ids of its own beside names
            found = igraph.Graph.Read(str(path))
        assert found.is_directed()
        assert found.es["weight"] == [-0.1]
        assert found.es["directed"] == [False]
        assert found.vs["noise_variance"] == [1.5] * 3
        # igraph leaves the references of GML as they are.
        expected = [FORMATS_LABEL[name](text) for text in graph.names]
        assert [unicodedata.normalize("NFC", text) for text in found.vs[key]] == expected


FORMATS_LABEL = {"graphml": str, "gml": lambda text: text.replace('"', "&#34;").replace("é", "&#233;")}


def edges_of(text, name):
    return {(source, target) for source, target, _ in FORMATS[name].read(text).edge_list()}


DOT_OF_OTHERS = {
    "digraph { a -> b -> c [weight=2]; a -> c [weight=-.5] }": {"ab", "bc", "ac"},
    "strict digraph G { a; b; {a b} -> {c d} }": {"ac", "ad", "bc", "bd"},
    "graph { a -- b }": {"ab", "ba"},
    "digraph { a -> b [dir=none]; c -> d [dir=back] }": {"ab", "ba", "dc"},
    "digraph { a -> b [dir=both, arrowtail=none, arrowhead=normal] }": {"ab"},
    "// first\n/* second */ digraph {\n# third\n a:n -> b:s; c [shape=box] rankdir=LR; edge [color=red] }": {"ab"},
    'digraph "a {" { subgraph cluster_1 { a -> b } subgraph { node [x=1]; c } -> a }': {"ab", "ca"},
    'digraph { "a" -> <b> ; }': {"ab"},
}


@pytest.mark.parametrize(("text", "expected"), DOT_OF_OTHERS.items())
def test_dot_of_others(text, expected):
    assert edges_of(text, "dot") == {tuple(pair) for pair in expected}


def joined_by_pydot(group):
    """Return the nodes of a graph or group of pydot's, and the pairs of them that its edges join."""
    nodes, pairs = set(group["nodes"]) - {"node", "edge", "graph"}, set()
    for edge in itertools.chain(*group["edges"].values()):
        ends = []
        for end in edge["points"]:
            name_or_group = (
                ({end.partition(":")[0].strip('"<>')}, set()) if isinstance(end, str) else joined_by_pydot(end)
            )
            ends.append(name_or_group[0])
            pairs |= name_or_group[1]
        nodes |= ends[0] | ends[1]
        pairs |= {frozenset(pair) for pair in itertools.product(*ends)}
    for inner in map(joined_by_pydot, itertools.chain(*group["subgraphs"].values())):
        nodes, pairs = nodes | inner[0], pairs | inner[1]
    return nodes, pairs


@pytest.mark.export
@pytest.mark.filterwarnings("ignore")  # pydot calls what pyparsing deprecates
@pytest.mark.parametrize("text", DOT_OF_OTHERS)
def test_pydot_reads_the_same_dot_of_others(text):
    pydot = pytest.importorskip("pydot")
    (theirs,) = pydot.graph_from_dot_data(text)
    nodes, pairs = joined_by_pydot(theirs.obj_dict)
    ours = FORMATS["dot"].read(text)
    assert set(ours.names) == nodes
    assert {frozenset(edge[:2]) for edge in ours.edge_list()} == pairs


def test_dot_takes_nothing_of_a_drawing_for_a_column():
    (edge,) = (
        FORMATS["dot"].read("digraph { edge [fontsize=9] a -> b [weight=2, penwidth=3, effect_low=1] }").edge_list()
    )
    assert edge == ("a", "b", {"weight": 2.0, "effect_low": 1.0})


def test_gml_of_others():
    nodes = "node [ id 7 graphics [ x 1.0 ] ] node [ id 3 ]"
    text = f'Creator "me"\nVersion 1\ngraph\n[\n# none\n{nodes}\nedge [ source 7 target 3 ]\n]'
    assert edges_of(text, "gml") == {("7", "3"), ("3", "7")}
    assert not FORMATS["gml"].read(text).weighted


def test_references_of_gml():
    text = 'graph [ directed 1 node [ id 0 label "a&#x42;&amp;&#10;&nonsense;" ] ]'
    assert FORMATS["gml"].read(text).names == ("aB&\n&nonsense;",)


def test_graphml_without_a_namespace():
    text = """<graphml><key id="w" for="all" attr.name="weight"/><graph edgedefault="directed">
    <node id="a"/><node id="b"/><edge source="b" target="a"><data key="w">-2</data></edge></graph></graphml>"""
    np.testing.assert_array_equal(FORMATS["graphml"].read(text).weights, [[0, 0], [-2, 0]])


def test_what_was_not_computed_is_no_column(tmp_path):
    text = """{"names": ["a", "b"], "weights": [[0, 2], [0, 0]], "noise_variances": null,
    "edge_table": [{"source": "a", "target": "b", "weight": null, "drop_loss": null, "effect_low": 1}]}"""
    assert FORMATS["json"].read(text).edge_list() == [("a", "b", {"weight": 2.0, "effect_low": 1.0})]


def test_a_variable_called_like_a_key_of_pgmpys_json(tmp_path):
    """Keys below the top level are names of variables: they tell nothing of the format."""
    graph = NamedGraph.from_lists(["cpds", "b"], [("cpds", "b", {"weight": 2.0})])
    document = json.loads(FORMATS["json"].write(graph)) | {"missing": {"cpds": 3, "nodes": 1, "arcs": 0}}
    (tmp_path / "graph.json").write_text(json.dumps(document))
    assert_same(read_graph(tmp_path / "graph.json"), graph)


def test_graphml_of_others():
    text = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
    <key id="d0" for="edge" attr.name="weight" attr.type="double"><default>2.5</default></key>
    <graph edgedefault="undirected"><node id="a"/><node id="b"/><node id="c"/>
    <edge source="a" target="b"/><edge source="b" target="c"><data key="d0">1</data></edge>
    </graph></graphml>"""
    graph = FORMATS["graphml"].read(text)
    np.testing.assert_array_equal(graph.weights, [[0, 2.5, 0], [2.5, 0, 1], [0, 1, 0]])


@pytest.mark.filterwarnings("ignore:Could not add vertex ids")  # igraph writes ids of its own beside names
def test_names_come_back_by_way_of_igraph(tmp_path):
    igraph = pytest.importorskip("igraph")
    ours = NamedGraph.from_lists(["a b", 'q"<é>', "alone"], [('q"<é>', "a b", {"weight": -1e-05})])
    drawn = igraph.Graph(directed=True)
    drawn.add_vertices(list(ours.names))
    drawn.add_edges([(1, 0)], {"weight": [-1e-05]})
    for ending in ("graphml", "gml"):
        path = str(tmp_path / f"graph.{ending}")
        drawn.write(path)
        assert_same(read_graph(path), ours)
    (tmp_path / "ours.graphml").write_text(FORMATS["graphml"].write(ours), encoding="utf-8")
    igraph.Graph.Read(str(tmp_path / "ours.graphml")).write(str(tmp_path / "again.graphml"))
    assert_same(read_graph(tmp_path / "again.graphml"), ours)


def test_labels_of_yed_are_names():
    label = '<data key="d0"><y:ShapeNode><y:NodeLabel>{}<y:Model/></y:NodeLabel></y:ShapeNode></data>'
    nodes = [f'<node id="n{k}">{label.format(name)}</node>' for k, name in enumerate(["rain", "wet grass"])]
    text = f"""<?xml version="1.0" encoding="UTF-8" standalone="no"?>
    <graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
    <key for="port" id="p" yfiles.type="portgraphics"/><key for="node" id="d0" yfiles.type="nodegraphics"/>
    <graph edgedefault="directed">{"".join(nodes)}<node id="n2"><port name="x"/></node>
    <edge id="e0" source="n0" target="n1"/></graph></graphml>"""
    graph = FORMATS["graphml"].read(text)
    assert graph.names == ("rain", "wet grass", "n2")
    assert graph.edge_list() == [("rain", "wet grass", {})]


def test_two_nodes_of_one_label_are_refused():
    nodes = 'node [ id 0 label "a" ] node [ id 1 label "a" ]'
    with pytest.raises(ValueError, match="unique; repeated: 'a'"):
        FORMATS["gml"].read(f"graph [ {nodes} ]")


def test_causal_learns_other_arrow():
    text = "Graph Nodes:\na;b;c\n\nGraph Edges:\n1. a <-- b\n2. b --- c\n"
    assert edges_of(text, "causal-learn") == {("b", "a"), ("b", "c"), ("c", "b")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<graphml", "format graphml: The XML is damaged"),
        ("<graphml/>", "file not successfully read as graphml"),
        ('<graphml><graph><node id="a"/><edge source="a" target="c"/></graph></graphml>', "'c', which is not a node"),
        ('<graphml><graph><node id="a"/><edge source="a"/></graph></graphml>', "an edge has no source or target"),
        ('<graphml><graph><node id="a"/><edge source="a" target="a" directed="true"/></graph></graphml>', "undirected"),
        ("graph [ node [ id 0 ]", "expected ']', found EOF"),
        ("graph [ node ]", "expected an int, float, string or '[', found ']'"),
        ('graph [ node [ id 0 label "a ] ]', "input contains no graph"),
        ("graph [ node [ id 0 ] edge [ source 0 target 1 ] ]", "edge #0 has undefined target 1"),
        ("graph [ node [ id 0 ] node [ id 0 ] ]", "node id 0 is duplicated"),
        ("graph [ " * 5000, "format gml"),
        ("digraph { a -> }", "Expected '{', found '}'"),
        ("digraph { a -> b", "the end of the file"),
        ("digraph { a -> b [weight=heavy] }", "The weight 'heavy' of the edge from 'a' to 'b' is not a finite number"),
        ("digraph { a -> b [dir=both] }", "has two arrowheads"),
        ("digraph { a ? b }", "'? b }' cannot be read"),
        ("digraph { <a }", "HTML name has no closing >"),
        ("Graph Nodes:\na;b\n\nGraph Edges:\n1. a <-> b\n", "hidden common cause"),
        ("Graph Nodes:\na;b\n\nGraph Edges:\n1. a --> c\n", "An edge has the end 'c', which is not a node"),
        ('{"nodes": ["a"], "arcs": [], "cpds": {"a": {}}}', "The pgmpy model has no entry 'variance'"),
        ("source,target\na,b\na,b\n", "from 'a' to 'b' appears twice"),
        ("source,target,weight\na,b,nan\n", "is not a finite number"),
        ("source,target,directed\na,b,no\nb,c,\n", "The column directed must have true or false; got 'no'"),
        ("source;target;weight\nA;B;0.5.1\n", "The weight '0.5.1' of the edge from 'A' to 'B' is not a finite number"),
        ("source,target\na\n", "The edge from 'a' has no target"),
        ("source,target,weight\na,b,\nb,c,2\n", "The edge from 'a' to 'b' has no weight. Give one"),
        ("digraph { a -> b [weight=2]; b -> c }", "The edge from 'b' to 'c' has no weight. Give one"),
        ("hello\n", "The first line has only one field"),
        (";a;b\na;0;0,5\nb;0\n", "Row 'b' of the weights must have 2 numbers, one per name"),
        (",a,b\na,0,x\nb,0,0\n", "Row 'a' of the weights has a value that is not a finite number"),
        ('{"names": ["a", "b"], "weights": [[0, 1], [0]]}', "Row 'b' of the weights must have 2 numbers, one per name"),
        ('{"names": ["a"], "weights": [[NaN]]}', "JSON is malformed"),
        (
            '{"names": ["a", "b"], "weights": [[0, 1], [0, "x"]]}',
            "of the weights has a value that is not a finite number",
        ),
        ('{"names": ["a"]}', "A graph needs `names` and `weights`"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path, text, message):
    path = tmp_path / "graph.file"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"graph\.file is not a graph") as caught:
        read_graph(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


LAUGHS = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 10))


@pytest.mark.parametrize(
    "declared",
    [
        f'<!ENTITY l0 "ha">{LAUGHS}',
        '<!ENTITY l9 SYSTEM "file://{secret}">',
        '<!ENTITY % l9 SYSTEM "file://{secret}"> %l9;',
    ],
)
def test_entities_of_xml_are_refused(tmp_path, declared):
    (tmp_path / "secret").write_text("<!ENTITY l9 'told'>")
    text = f"""<?xml version="1.0"?><!DOCTYPE graphml [{declared.format(secret=tmp_path / "secret")}]>
    <graphml><key id="n" for="node" attr.name="name" attr.type="string"/><graph edgedefault="directed">
    <node id="a"><data key="n">&l9;</data></node></graph></graphml>"""
    (tmp_path / "graph.graphml").write_text(text)
    with pytest.raises(
        ValueError, match=r"graph\.graphml is not a graph in the format graphml: It declares XML entities"
    ):
        read_graph(tmp_path / "graph.graphml")
    # The DOCTYPE alone, which old files have, names a file that is not read.
    (tmp_path / "graph.graphml").write_text(
        re.sub(r"<!DOCTYPE.*]>", f'<!DOCTYPE graphml SYSTEM "{tmp_path / "secret"}">', text).replace("&l9;", "b")
    )
    assert read_graph(tmp_path / "graph.graphml").names == ("b",)


@pytest.mark.parametrize(
    "text",
    [
        "<graphml>" * 20_000 + "</graphml>" * 20_000,
        "<graphml>"
        + "<graph><node id='a' yfiles.foldertype='group'>" * 20_000
        + "</node></graph>" * 20_000
        + "</graphml>",
        "graph [ node [ id 0 " + "a [ " * 20_000 + "] " * 20_000 + "] ]",
        "graph [ node [ id 0 ] edge [ source 0 target 0 weight " + "9" * 4000 + " ] ]",
        "graph [ node [ id " + "9" * 5000 + " ] ]",
        "graph [ ?" + "x" * 1_000_000,
        "digraph { " + "{ " * 20_000 + "} " * 20_000 + "}",
        '{"names": ' + "[" * 100_000,
        '{"names": ["a"], "weights": [[' + "9" * 4000 + "]]}",
        "source,target\n" + "x" * 200_000 + ",b\n",
    ],
    ids=["xml", "groups", "gml", "large", "id", "line", "dot", "json", "number", "field"],
)
def test_what_is_too_deep_or_too_large_is_refused(tmp_path, text):
    (tmp_path / "graph").write_text(text)
    with pytest.raises(ValueError, match="not a graph") as caught:
        read_graph(tmp_path / "graph")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("name", ["csv", "gml", "graph.json"])
def test_a_graph_is_read_as_a_list_and_matrices_that_do_not_fit_the_memory_are_refused(tmp_path, monkeypatch, name):
    monkeypatch.setattr("golem.runtime.machine.free_memory", lambda: 2**30)
    d = 120_000 if name == "csv" else 10_000
    texts = {
        "csv": "source,target\n" + "".join(f"a{k},b{k}\n" for k in range(d // 2)),
        "gml": "graph [ " + " ".join(f"node [ id {k} ]" for k in range(d)) + " ]",
        "graph.json": json.dumps({"format_version": 2, "names": [f"x{k}" for k in range(d)]}),
    }
    (tmp_path / name).write_text(texts[name])
    read = read_graph_document if name == "graph.json" else read_graph
    read(tmp_path / name)
    graph = read_graph(tmp_path / name)
    assert len(graph.edge_list()) == (d // 2 if name == "csv" else 0)
    for matrix in ("weights", "adjacency"):
        with pytest.raises(ValueError, match=rf"A graph of {d} nodes needs about .* GiB of memory, of which 1.0 GiB"):
            getattr(graph, matrix)


MUTATED = NamedGraph.from_lists(
    ["a b", 'q"<é>', "x", "alone"],
    [("a b", 'q"<é>', {"weight": -1e-05, "directed": False, "p value": 0.5}), ("x", "a b", {"weight": 2.0})],
    [{"noise_variance": 1.5, "intercept": 0.0}] * 4,
)


@pytest.mark.parametrize("name", ["graphml", "gml", "dot"])
def test_a_damaged_file_is_read_or_refused_in_a_sentence(tmp_path, name, rng):
    """Truncated, and with pieces deleted, doubled, exchanged or overwritten: no other error gets through."""
    text, path, refused = FORMATS[name].write(MUTATED), tmp_path / "graph", []
    for k in range(400):
        begin, end, other = sorted(rng.integers(len(text), size=3))
        piece = str(rng.choice([*'<>[]{}"=;\\&#\0é-/ 7e', "node", "1e999", "<!--"]))
        damaged = (
            text[:begin],
            text[:begin] + text[end:],
            text[:end] + text[begin:],
            text[:begin] + text[end:other] + text[begin:end] + text[other:],
            text[:begin] + piece + text[begin + int(rng.integers(3)) :],
        )[k % 5]
        path.write_text(damaged, encoding="utf-8")
        try:
            read_graph(path)
        except ValueError as error:
            refused.append(str(error))
    assert len(refused) > 200
    assert all(sentence.startswith(f"{path} is not a graph") and "\n" not in sentence for sentence in refused)


def test_a_folder_stands_for_the_graph_in_it(tmp_path):
    with pytest.raises(ValueError, match=r"graph\.json: There is no such file"):
        read_graph(tmp_path)
    (tmp_path / "graph.json").write_text('{"names": ["a", "b"], "weights": [[0, 1], [0, 0]]}')
    assert read_graph(tmp_path).edge_list() == read_graph(tmp_path / "graph.json").edge_list()


def test_an_edge_list_can_name_variables_without_edges(tmp_path):
    weights = np.zeros((4, 4))
    weights[1, 3] = 0.5
    graph = NamedGraph.from_weights(weights, tuple("abcd"))
    plain = NamedGraph.from_class(graph.adjacency, graph.names)
    path = tmp_path / "truth.csv"
    for written, text in (
        (graph, "source,target,weight\nb,d,0.5\na,,\nc,,\n"),
        (plain, "source,target\nb,d\na,\nc,\n"),
    ):
        assert write_truth(written) == text
        path.write_text(text)
        found = read_graph(path)
        assert found.names == ("b", "d", "a", "c")
        np.testing.assert_array_equal(found.aligned(graph.names) != 0, graph.adjacency)
        assert found.weighted == written.weighted
    path.write_text("source,target,weight\nb,,0.5\n")
    with pytest.raises(ValueError, match="The edge from 'b' has no target"):
        read_graph(path)


def test_models_need_weights_and_variances():
    with pytest.raises(ValueError, match="no noise variances"):
        FORMATS["pgmpy"].write(NamedGraph.from_lists(["a", "b"], [("a", "b", {"weight": 1})]))
    with pytest.raises(ValueError, match="no weights"):
        FORMATS["pgmpy"].write(NamedGraph.from_lists(["a", "b"], [("a", "b", {})]))
    model = NamedGraph.from_lists(["(Intercept)"], [], [{"noise_variance": 1, "intercept": 0}])
    with pytest.raises(ValueError, match="Rename that variable"):
        FORMATS["pgmpy"].write(model)


@pytest.mark.parametrize("header", ["source,target", "from,to", "cause,effect", "Cause,Effect"])
def test_the_columns_of_an_edge_list_have_other_names_too(header, tmp_path):
    (tmp_path / "truth.csv").write_text(f"{header}\na,b\nb,c\n")
    graph = read_graph(tmp_path / "truth.csv")
    assert graph.names == ("a", "b", "c")
    assert np.argwhere(graph.adjacency).tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_graphs_of_spreadsheets_with_decimal_commas(separator, tmp_path):
    edges = "source,target,weight,note\na 1,b,A,x\nb,c,-B,\n"
    matrix = ",a 1,b,c\na 1,0,A,0\nb,0,0,-B\nc,0,0,0\n"
    for text in (edges, matrix):
        path = tmp_path / "graph.csv"
        path.write_text(text.replace(",", separator).replace("A", "0,5").replace("B", "1,5e1"))
        graph = read_graph(path)
        assert graph.names == ("a 1", "b", "c")
        np.testing.assert_array_equal(graph.weights, [[0, 0.5, 0], [0, 0, -15], [0, 0, 0]])


def test_commas_in_the_names_of_a_spreadsheet_stay(tmp_path):
    (tmp_path / "graph.csv").write_text("source;target;weight\n0,5;1,5;2\n")
    assert read_graph(tmp_path / "graph.csv").names == ("0,5", "1,5")


def test_a_short_dot_file_with_millions_of_edges_is_refused():
    group = "{" + " ".join(f"a{k}" for k in range(1500)) + "}"
    with pytest.raises(ValueError, match="make more than 1000000 edges"):
        read_dot(f"digraph {{ {group} -> {group} }}")
