"""Problems: messages that know their remedies, errors and warnings with such messages, and where they are."""

from __future__ import annotations

import ast
import copy
import pickle
import re
import warnings
from pathlib import Path

import polars as pl
import pytest

import golem
from golem.runtime.dialects import FILES, OPTIONS, SHELL
from golem.runtime.problems import Drop, Problem, ProblemError, Set, Text, message_of, names_remedies, placed, told

USE = Text("Drop it: ", Drop(["a"]), ", or use ", Set("missing", "em"), ".")


def test_a_text_is_a_string_that_can_be_told_again() -> None:
    """Also within another text, and in any dialect that it was told in before."""
    assert USE == "Drop it: X.drop(columns=['a']), or use missing='em'."
    assert USE.remedies == (Drop(["a"]), Set("missing", "em"))
    assert Text("Oh. ", USE.told(FILES)).told(SHELL) == "Oh. Drop it: --drop a, or use --missing em."
    assert Text.of_sentences(["One.", "", USE]).remedies == USE.remedies
    assert told("Plain.", SHELL) == "Plain."


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda text: pickle.loads(pickle.dumps(text))])
def test_copies_keep_the_remedies(copied) -> None:
    """A message may come from another process."""
    assert copied(USE.told(FILES)) == USE.told(FILES)
    assert told(copied(USE), SHELL) == told(USE, SHELL)
    error = placed(ProblemError(USE, problems=[Problem("constant", ("a",), "It is constant.", USE)]), "t.csv", FILES)
    again = copied(error)
    assert str(again) == str(error) == "t.csv: Drop it: drop=['a'], or use missing='em'."
    assert again.problems[0].remedies == USE.remedies


def test_errors_and_warnings_are_told_for_the_reader() -> None:
    """With the place; errors without remedies are plain."""
    inner = placed(ProblemError("Use ", Set("noise", "nv"), "."), "Environment 'b'")
    error = placed(inner, "t.csv", FILES)
    assert told(error, SHELL) == "t.csv: Environment 'b': Use --noise nv."
    assert error.problems == (Problem("setting", (), "Use noise='nv'."),)
    assert told(placed(ValueError("Bad."), "t.csv", FILES), SHELL) == "t.csv: Bad."
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(USE, golem.DataWarning, stacklevel=1)
    assert message_of(caught[0].message) == USE
    assert told(caught[0].message, SHELL) == "Drop it: --drop a, or use --missing em."


def test_a_function_tells_errors_for_the_library_of_its_table() -> None:
    """Given by place or by name; other errors stay."""

    @names_remedies
    def refuse(other: int, X: object) -> None:
        raise ProblemError(USE) if other else ValueError("Bad.")

    X = pl.DataFrame({"a": [1]})
    for call in (lambda: refuse(1, X), lambda: refuse(1, X=X)):
        with pytest.raises(ValueError, match=r"^Drop it: X\.drop\(\['a'\]\), or use missing='em'\.$"):
            call()
    with pytest.raises(ValueError, match=r"^Bad\.$"):
        refuse(0, X)


def test_all_settings_in_messages_are_remedies() -> None:
    """Text that names a setting as in Python would reach the command line as it is."""
    setting = re.compile(rf"(?<![^ (])({'|'.join(OPTIONS)})=('|True|False|\[?\.\.\.|$)|^({'|'.join(OPTIONS)}) must be ")
    found = []
    for path in Path(golem.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text())
        statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in statements]
        found += [
            (path.name, node.lineno) for node in texts if isinstance(node.value, str) and setting.search(node.value)
        ]
    assert [name for name, _ in found if name not in ("dialects.py", "problems.py")] == [], found
