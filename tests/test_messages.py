"""Messages of errors are sentences: a capital letter or the name of a parameter first, a period last."""

from __future__ import annotations

import ast
import itertools
import re
import string
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "golem"
# Words that begin a sentence in lower case: the number of rows, and packages.
LOWER = {"n", "bnlearn", "lavaan", "pgmpy"}
# Errors whose text is not a message: Python's own wording, notes in tables, and reasons in parentheses.
NOT_MESSAGES = ("AttributeError", "TimeLimitError", "CrashError", "ValidationError")
# Functions that raise the reason at the end of another message.
REASONS = {("data/table_input.py", "_float_column"), ("data/table_input.py", "_real_numbers")}
VALUE, CONSTANT = "\0", "\1"  # stand for values in a message
# A message may end with a value that is itself a sentence, such as a hint or the message of another error.
END = re.compile(rf"[.?]$|(^|[.:] ?|{VALUE} ?)[{VALUE}{CONSTANT}]$")
BEGIN = re.compile(rf"^({VALUE}+: )?(?P<word>[a-z]\w*)")


def texts(node):
    """Return the literal texts that an expression can be, with values replaced."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        return ["".join(part.value if isinstance(part, ast.Constant) else value(part) for part in node.values)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [left + right for left in texts(node.left) or [VALUE] for right in texts(node.right) or [VALUE]]
    if isinstance(node, ast.IfExp):
        return texts(node.body) + texts(node.orelse)
    return []


def value(part):
    """Return what stands for a value: a constant of the module may be the beginning of the sentence."""
    return CONSTANT if ast.unparse(part.value).isupper() else VALUE


def messages(tree):
    """Yield the messages of a module, with their lines and the names of the functions or classes around them."""
    for part in tree.body:
        for node in ast.walk(part):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            name = called.removesuffix(".of").rpartition(".")[2]
            if name.endswith("Error") and name not in NOT_MESSAGES and node.args:
                for text in template(node.args[0]) if called.endswith(".of") else joined(node.args):
                    yield text, node.lineno, getattr(part, "name", "")


def template(node):
    """Return the text of a template, with values and settings replaced."""
    fields = string.Formatter().parse(node.value) if isinstance(node, ast.Constant) else ()
    text = "".join(literal + VALUE * (field is not None) for literal, field, _, _ in fields)
    return [text] if text else []


def joined(parts):
    """Return the texts that parts of a message can be together, with remedies replaced; none without any text."""
    found = [texts(part) for part in parts]
    return ["".join(chosen) for chosen in itertools.product(*(one or [VALUE] for one in found))] if any(found) else []


def names_in(tree):
    """Yield the names of parameters, fields and functions, with which a message may begin."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def begins_well(text, names):
    found = BEGIN.match(text)
    return found is None or found["word"] in names


def test_messages_are_sentences():
    trees = {path.relative_to(SOURCE): ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")}
    names = {name for tree in trees.values() for name in names_in(tree)} | LOWER
    checked, wrong = 0, []
    for path, tree in trees.items():
        for text, line, around in messages(tree):
            if (path.as_posix(), around) in REASONS:
                continue
            checked += 1
            if not END.search(text) or not begins_well(text, names):
                wrong.append(f"{path}:{line}: {re.sub(f'[{VALUE}{CONSTANT}]', '{}', text)}")
    assert checked > 400
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("raised", "sound"),
    [
        ('ValueError(f"rows must be positive; got {rows}.")', True),
        ('ValueError(f"There is no column {name}. {hint}")', True),
        ('ValueError(f"{path}: {error}")', True),
        ('ValueError(f"rows must be positive; got {rows}")', False),
        ('ValueError("There are no rows")', False),
        ('TypeError("There are no rows" if few else "There are no columns.")', False),
        ('ValueError("the rows are missing.")', False),
        ('ValueError(f"{path}: the rows are missing.")', False),
    ],
)
def test_the_check_can_fail(raised, sound):
    found = [text for text, _, _ in messages(ast.parse(f"raise {raised}"))]
    assert found
    assert all(END.search(text) and begins_well(text, {"rows"}) for text in found) is sound
