"""Settings in messages. A message names them as parameters of Python, and the command line turns these into options.

What a user can do with a table in memory, such as `X.drop(columns=['a'])`, is a parameter of the functions that read
files, such as `drop=['a']`.
"""

from __future__ import annotations

import ast
import contextlib
import re
import shlex
from collections.abc import Iterator, Sequence

from golem.runtime.messages import typed_names

_TEXT = r"(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
_LIST = rf"\[(?:{_TEXT}(?:, {_TEXT})*|\.\.\.)\]"
_BEGIN = r"(?<![^ (])"
_DROPPED = re.compile(rf"{_BEGIN}X\.drop\(columns=({_LIST})\)")
_CATEGORY = re.compile(rf"({_TEXT}): 'category'")
_TYPED = re.compile(rf"{_BEGIN}X\.astype\({{{_CATEGORY.pattern}(?:, {_CATEGORY.pattern})*}}\)")
_CODE = re.compile(rf"({_TEXT}): {{([^{{}}]+): float\('nan'\)}}")
_REPLACED = re.compile(rf"{_BEGIN}X\.replace\({{{_CODE.pattern}(?:, {_CODE.pattern})*}}\)")
_COLUMNS = re.compile(rf"{_BEGIN}(drop|columns|categorical|numeric|na)=({_LIST})")
_FLAG = re.compile(rf"{_BEGIN}(certificate|cpdag|covariance|drop_dependent|environments|header|scatter)=(True|False)")
_NAMES = (
    "bootstrap|device|effort|environment|environments|intercepts|intervention|lambda_dag|lambda_sparsity|levels|"
    "max_iter|missing|noise|noise_std|output|random_state|rows|scheduler|score_function|select|shape|solver|targets|"
    "threshold|time_limit|weight_scale"
)
_SETTING = re.compile(rf"{_BEGIN}({_NAMES})=({_TEXT}|[\w.:+-]*\w|[.]+)")
_SUBJECT = re.compile(rf"^({_NAMES})(?= must be )")
_QUOTES = ("'", '"')
_ONLY_FILES = re.compile(r"golem\.fit_file\(\.\.\., ([^()]*)\)")
# How to get a report with a scatter plot per edge.
SCATTER_PLOTS = "model.report('report.html', rows=X)"
_OTHER_NAMES = {"random_state": "seed", "score_function": "score", "environments": "environment"}


def dropping(names: Sequence[str]) -> str:
    """Return how to drop columns.

    Examples
    --------
    >>> dropping(["age", "sex"])
    "X.drop(columns=['age', 'sex'])"
    """
    return f"X.drop(columns={list(names)!r})"


def as_categories(names: Sequence[str]) -> str:
    """Return how to turn columns into categories.

    Examples
    --------
    >>> as_categories(["age"])
    "X.astype({'age': 'category'})"
    """
    return f"X.astype({dict.fromkeys(names, 'category')!r})"


def as_missing(codes: Sequence[tuple[str, str]]) -> str:
    """Return how to turn numbers of columns, given as text, into missing values.

    Examples
    --------
    >>> as_missing([("age", "-9")])
    "X.replace({'age': {-9: float('nan')}})"
    """
    return "X.replace({" + ", ".join(f"{name!r}: {{{code}: float('nan')}}" for name, code in codes) + "})"


def setting(name: str, texts: Sequence[str]) -> str:
    """Return a parameter whose value is a list of texts.

    Examples
    --------
    >>> setting("na", ["-999"])
    "na=['-999']"
    """
    return f"{name}={list(texts)!r}"


def for_files(message: str) -> str:
    """Turn what a message says about a table in memory into parameters of the functions that read files.

    Examples
    --------
    >>> for_files("Drop it: X.drop(columns=['a']), or use golem.fit_file(..., drop_dependent=True).")
    "Drop it: drop=['a'], or use drop_dependent=True."
    """
    text = _DROPPED.sub(lambda match: f"drop={match[1]}", message)
    text = _TYPED.sub(lambda match: setting("categorical", _texts(_CATEGORY.findall(match[0]))), text)
    text = _REPLACED.sub(lambda match: setting("na", [f"{name}={code}" for name, code in _codes(match[0])]), text)
    return _ONLY_FILES.sub(r"\1", text).replace(SCATTER_PLOTS, "scatter=True")


@contextlib.contextmanager
def array_words(is_array: bool) -> Iterator[None]:
    """Turn what a ValueError says about dropping columns of a table into words for an array, with columns x0, x1...

    Examples
    --------
    >>> with array_words(is_array=True):
    ...     raise ValueError(f"Drop it: {dropping(['x3'])}.")
    Traceback (most recent call last):
    ValueError: Drop it: np.delete(X, [3], axis=1).
    """
    try:
        yield
    except ValueError as error:
        if is_array:
            error.args = (_DROPPED.sub(_deleted, str(error)), *error.args[1:])
        raise


def _deleted(match: re.Match[str]) -> str:
    return f"np.delete(X, {[int(name[1:]) for name in ast.literal_eval(match[1])]}, axis=1)"


def as_options(message: str) -> str:
    """Turn the parameters that a message names into options of the command line.

    Examples
    --------
    >>> as_options("Drop it: X.drop(columns=['blood pressure']), or use golem.fit_file(..., drop_dependent=True).")
    "Drop it: --drop 'blood pressure', or use --drop-dependent."
    >>> as_options("Use X.replace({'a': {-9: float('nan')}}) and missing='em', or noise='nv' (columns=[...]).")
    'Use --na a=-9 and --missing em, or --noise nv (--columns).'
    >>> as_options("weight_scale must be positive; got 0.")
    '--weight-scale must be positive; got 0.'
    """
    text = _COLUMNS.sub(lambda match: _listed(match[1], match[2]), for_files(message))
    text = _SUBJECT.sub(lambda match: f"--{_dashed(match[1])}", text)
    text = _FLAG.sub(lambda match: f"--{'' if match[2] == 'True' else 'no-'}{match[1].replace('_', '-')}", text)
    return _SETTING.sub(lambda match: f"--{_dashed(match[1])}{_value(match)}", text)


def _listed(name: str, values: str) -> str:
    """Return an option with a list of texts."""
    if values == "[...]":
        return f"--{name}"
    texts = ast.literal_eval(values)
    return " ".join(f"--na {shlex.quote(text)}" for text in texts) if name == "na" else f"--{name} {typed_names(texts)}"


def _texts(written: Sequence[str]) -> list[str]:
    return [ast.literal_eval(text) for text in written]


def _codes(written: str) -> list[tuple[str, str]]:
    return [(ast.literal_eval(name), code) for name, code in _CODE.findall(written)]


def _dashed(name: str) -> str:
    return _OTHER_NAMES.get(name, name).replace("_", "-")


def _value(match: re.Match[str]) -> str:
    """Return the value of an option; dots stand for any value, and may end the sentence."""
    written, rest = match[2], match.string[match.end() :]
    if set(written) == {"."}:
        return "." if not rest or re.match(" [A-Z]", rest) else ""
    return f" {shlex.quote(ast.literal_eval(written)) if written[0] in _QUOTES else written}"
