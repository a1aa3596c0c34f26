"""Names of the files of a run: in titles and errors, and compared with those that it writes."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from golem.data.files.standard_input import source_name
from golem.runtime.dialects import FILES
from golem.runtime.problems import ProblemError, Set, placed


def require_kept(inputs: Sequence[Path], output: Path, results: Collection[str]) -> None:
    """Raise a ValueError if the results would overwrite an input file."""
    written = {(output / name).resolve() for name in results}
    for path in inputs:
        if path.resolve() in written:
            what = f"The results would overwrite {str(path)!r}. Choose another folder ("
            raise ProblemError(what, Set("output"), ").")


def title_of(paths: Sequence[str]) -> str:
    """Return the title of a table in the report."""
    return Path(source_name(paths[0])).name


@contextlib.contextmanager
def naming(data: Sequence[str], others: Sequence[object] = ()) -> Iterator[None]:
    """Begin error messages about the rows with the name of the file, unless they are about another file."""
    try:
        yield
    except ValueError as error:
        if str(error).startswith(
            (source_name(data[0]), *(f"{other}{end}" for other in others for end in (": ", " is not")))
        ):
            raise
        more = f" and {len(data) - 1} more" if len(data) > 1 else ""
        raise placed(error, f"{source_name(data[0])}{more}", FILES) from None
