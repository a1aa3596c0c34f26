"""Settings in messages. A message names them as parameters of Python, and the command line turns these into options.

What a user can do with a table in memory is written for pandas, such as `X.drop(columns=['a'])`. The other libraries
have words of their own, and the functions that read files have parameters, such as `drop=['a']`.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from golem.runtime.messages import typed_names

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_TEXT = r"(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
_LIST = rf"\[(?:{_TEXT}(?:, {_TEXT})*|\.\.\.)\]"
_BEGIN = r"(?<![^ (])"
_DROPPED = re.compile(rf"{_BEGIN}X\.drop\(columns=({_LIST})\)")
_CATEGORY = re.compile(rf"({_TEXT}): 'category'")
_TYPED = re.compile(rf"{_BEGIN}X\.astype\({{{_CATEGORY.pattern}(?:, {_CATEGORY.pattern})*}}\)")
_CODE = rf"(?:{_TEXT}|[^{{}}:]+): np\.nan"
_CODES = rf"{_TEXT}: {{{_CODE}(?:, {_CODE})*}}"
_REPLACED = re.compile(rf"{_BEGIN}X\.replace\(({{{_CODES}(?:, {_CODES})*}})\)")
_COLUMNS = re.compile(rf"{_BEGIN}(drop|columns|categorical|numeric|na)=({_LIST})")
_FLAG = re.compile(rf"{_BEGIN}(certificate|cpdag|covariance|drop_dependent|environments|header|scatter)=(True|False)")
_NAMES = (
    "bootstrap|device|effort|environment|environments|intercepts|intervention|lambda_dag|lambda_sparsity|levels|"
    "max_iter|missing|noise|noise_std|output|random_state|rows|scheduler|score_function|select|shape|solver|targets|"
    "threshold|time_limit|weight_scale"
)
_SETTING = re.compile(rf"{_BEGIN}({_NAMES})=({_TEXT}|[\w.:+-]*\w|[.]+)")
_SUBJECT = re.compile(rf"^({_NAMES})(?= must be )")
_COLUMN_OF_ARRAY = re.compile(r"x(\d+)")
_QUOTES = ("'", '"')
_ONLY_FILES = re.compile(r"golem\.fit_file\(\.\.\., ([^()]*)\)")
_ONE_OF_ALL = "pd.DataFrame(X).drop_duplicates()"
_ONE_OF = re.compile(r"pd\.DataFrame\(X\)\[lambda t: t\.groupby\(.*?\)\.cumcount\(\) % (\d+) == 0\]")
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
    """Return how to turn values of columns, numbers or texts, into missing values.

    Examples
    --------
    >>> as_missing([("age", "-9"), ("sex", "unknown")])
    "X.replace({'age': {-9: np.nan}, 'sex': {'unknown': np.nan}})"
    """
    written: dict[str, list[str]] = {}
    for name, code in codes:
        written.setdefault(name, []).append(f"{_written(code)}: np.nan")
    return "X.replace({" + ", ".join(f"{name!r}: {{{', '.join(own)}}}" for name, own in written.items()) + "})"


def _written(code: str) -> str:
    """Return a number as it is, and a text in quotes."""
    try:
        float(code)
    except ValueError:
        return repr(code)
    return code


def one_copy_of(copies: int | None = None) -> str:
    """Return how to keep one of so many copies of each row of a table or an array; by default, one of all.

    Examples
    --------
    >>> one_copy_of()
    'pd.DataFrame(X).drop_duplicates()'
    """
    if copies is None:
        return _ONE_OF_ALL
    return f"pd.DataFrame(X)[lambda t: t.groupby(list(t), dropna=False, observed=True).cumcount() % {copies} == 0]"


def setting(name: str, texts: Sequence[str]) -> str:
    """Return a parameter whose value is a list of texts.

    Examples
    --------
    >>> setting("na", ["-999"])
    "na=['-999']"
    """
    return f"{name}={list(texts)!r}"


@dataclass(frozen=True)
class _Words:
    """How to drop columns, to turn columns into categories, and to turn some values of columns into missing ones.

    Values are written as in Python: a number, or a text in quotes.
    """

    drop: Callable[[Sequence[str]], str]
    categories: Callable[[Sequence[str]], str]
    missing: Callable[[Mapping[str, Sequence[str]]], str]

    def apply(self, message: str) -> str:
        """Replace what a message says for pandas."""
        text = _DROPPED.sub(lambda match: self.drop(ast.literal_eval(match[1])), message)
        text = _TYPED.sub(lambda match: self.categories(_texts(_CATEGORY.findall(match[0]))), text)
        return _REPLACED.sub(lambda match: self.missing(_codes(match[1])), text)


def _polars_columns(changed: Sequence[str]) -> str:
    """Return how to replace columns of a Polars table by others."""
    return f"X.with_columns({', '.join(changed)})"


def _pyarrow_columns(changed: Mapping[str, str]) -> str:
    """Return how to replace columns of a PyArrow table by others."""
    return "X" + "".join(
        f".set_column(X.column_names.index({name!r}), {name!r}, {column})" for name, column in changed.items()
    )


def _without_code(column: tuple[str, str], code: str) -> tuple[str, str]:
    """Return the name of a PyArrow column, and how to turn one more of its values into missing ones."""
    name, kept = column
    return name, f"pc.if_else(pc.equal(X[{name!r}], {code}), None, {kept})"


def _deleted(match: re.Match[str]) -> str:
    """Return how to drop columns of an array; unless it has names from elsewhere, they are x0, x1..."""
    columns = [_COLUMN_OF_ARRAY.fullmatch(name) for name in ast.literal_eval(match[1])]
    return f"np.delete(X, {[int(column[1]) for column in columns if column]}, axis=1)" if all(columns) else match[0]


_FILES = _Words(
    drop=lambda names: setting("drop", names),
    categories=lambda names: setting("categorical", names),
    missing=lambda codes: setting(
        "na", [f"{name}={ast.literal_eval(code)}" for name, own in codes.items() for code in own]
    ),
)
_LIBRARIES = {
    "polars": _Words(
        drop=lambda names: f"X.drop({names!r})",
        categories=lambda names: _polars_columns([f"pl.col({names!r}).cast(pl.String).cast(pl.Categorical)"]),
        missing=lambda codes: _polars_columns(
            [f"pl.col({name!r}){''.join(f'.replace({code}, None)' for code in own)}" for name, own in codes.items()]
        ),
    ),
    "pyarrow": _Words(
        drop=lambda names: f"X.drop_columns({names!r})",
        categories=lambda names: _pyarrow_columns(
            {name: f"X[{name!r}].cast('string').dictionary_encode()" for name in names}
        ),
        missing=lambda codes: _pyarrow_columns(
            {name: functools.reduce(_without_code, own, (name, f"X[{name!r}]"))[1] for name, own in codes.items()}
        ),
    ),
}


def for_files(message: str) -> str:
    """Turn what a message says about a table in memory into parameters of the functions that read files.

    Examples
    --------
    >>> for_files("Drop it: X.drop(columns=['a']), or use golem.fit_file(..., drop_dependent=True).")
    "Drop it: drop=['a'], or use drop_dependent=True."
    """
    return _ONLY_FILES.sub(r"\1", _FILES.apply(message)).replace(SCATTER_PLOTS, "scatter=True")


def for_library(message: str, table: Any) -> str:
    """Turn what a message says about a table of pandas into words for the library of a table, or of the first of them.

    Examples
    --------
    >>> import numpy as np
    >>> for_library(f"Drop it: {dropping(['x3'])}.", np.ones((9, 4)))
    'Drop it: np.delete(X, [3], axis=1).'
    """
    one = next(iter(table.values()), None) if isinstance(table, Mapping) else table
    library = type(one).__module__.partition(".")[0]
    if library == "numpy":
        return _DROPPED.sub(_deleted, message)
    if library not in _LIBRARIES:
        return message
    return _LIBRARIES[library].apply(message).replace("pd.DataFrame(X)", "X.to_pandas()")


def names_remedies(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let the ValueErrors of a function name remedies for the library of its table, the parameter X, data or table."""
    known = list(inspect.signature(function).parameters)
    name = next(name for name in known if name in ("X", "data", "table"))
    place = known.index(name)

    @functools.wraps(function)
    def worded(*args: Arguments.args, **options: Arguments.kwargs) -> Result:
        try:
            return function(*args, **options)
        except ValueError as error:
            table = options[name] if name in options else args[place]
            if (said := for_library(str(error), table)) != str(error):
                error.args = (said, *error.args[1:])
            raise

    return worded


def as_options(message: str) -> str:
    """Turn the parameters that a message names into options of the command line.

    Examples
    --------
    >>> as_options("Drop it: X.drop(columns=['blood pressure']), or use golem.fit_file(..., drop_dependent=True).")
    "Drop it: --drop 'blood pressure', or use --drop-dependent."
    >>> as_options("Use X.replace({'a': {-9: np.nan}}) and missing='em', or noise='nv' (columns=[...]).")
    'Use --na a=-9 and --missing em, or --noise nv (--columns).'
    >>> as_options(f"Keep one: {one_copy_of(3)}.")
    "Keep one: awk 'seen[$0]++ % 3 == 0' FILE > unique.csv."
    >>> as_options("weight_scale must be positive; got 0.")
    '--weight-scale must be positive; got 0.'
    """
    text = for_files(message).replace(_ONE_OF_ALL, _unique_lines("!seen[$0]++"))
    text = _ONE_OF.sub(lambda match: _unique_lines(f"seen[$0]++ % {match[1]} == 0"), text)
    text = _SUBJECT.sub(lambda match: f"--{_dashed(match[1])}", text)
    text = _unquoted_sub(_FLAG, lambda m: f"--{'' if m[2] == 'True' else 'no-'}{m[1].replace('_', '-')}", text)
    text = _unquoted_sub(_SETTING, lambda match: f"--{_dashed(match[1])}{_value(match)}", text)
    # Last, because names may then be quoted as in a shell, which is not how the other patterns know quotes.
    return _unquoted_sub(_COLUMNS, lambda match: _listed(match[1], match[2]), text)


def _unquoted_sub(pattern: re.Pattern[str], written: Callable[[re.Match[str]], str], text: str) -> str:
    """Replace what matches a pattern, but not within quotes: a column may have any name."""
    either = re.compile(rf"(?<!\w){_TEXT}|{pattern.pattern}")  # after a letter, a quote is an apostrophe
    return either.sub(lambda match: match[0] if match[0][0] in _QUOTES else written(match), text)


def _unique_lines(chosen: str) -> str:
    """Return a command that copies the chosen lines of a text file."""
    return f"awk '{chosen}' FILE > unique.csv"


def _listed(name: str, values: str) -> str:
    """Return an option with a list of texts."""
    if values == "[...]":
        return f"--{name}"
    texts = ast.literal_eval(values)
    return " ".join(f"--na {shlex.quote(text)}" for text in texts) if name == "na" else f"--{name} {typed_names(texts)}"


def _texts(written: Sequence[str]) -> list[str]:
    return [ast.literal_eval(text) for text in written]


def _codes(written: str) -> dict[str, list[str]]:
    """Return the codes of each column, texts in quotes, given the dictionary of `as_missing`."""
    parsed: Any = ast.parse(written, mode="eval").body
    pairs = zip(parsed.keys, parsed.values, strict=True)
    return {ast.literal_eval(name): [ast.unparse(code) for code in own.keys] for name, own in pairs}


def _dashed(name: str) -> str:
    return _OTHER_NAMES.get(name, name).replace("_", "-")


def _value(match: re.Match[str]) -> str:
    """Return the value of an option; dots stand for any value, and may end the sentence."""
    written, rest = match[2], match.string[match.end() :]
    if set(written) == {"."}:
        return "." if not rest or re.match(" [A-Z]", rest) else ""
    return f" {shlex.quote(ast.literal_eval(written)) if written[0] in _QUOTES else written}"
