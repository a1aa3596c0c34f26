"""What --select does before the fit: the path, its table and its picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from golem.cli.running import compile_kernels
from golem.cli.terminal import choosing, telling_warnings
from golem.output.result_files import save_figure
from golem.runtime.interrupts import holding_interrupts

if TYPE_CHECKING:
    from golem.assessment.selection import GolemCV, Selection
    from golem.data.moments import Moments
    from golem.data.readers import Table
    from golem.estimator.golem import Golem


def choose(
    search: GolemCV,
    model: Golem,
    shards: list[Moments],
    rows: Callable[[], Table],
    output: Path,
    *,
    quiet: bool,
    bar: bool,
) -> Selection:
    """Choose settings of the model with a progress bar, and write path.csv and path.png.

    A single shard is no division: the rows are read then, unless a criterion on all of them is the judge.
    """
    import pyarrow as pa

    from golem.output.figures import plot_path
    from golem.output.result_files import path_text
    from golem.runtime.files import write_text

    compile_kernels(model, shards[0].d, bar)
    with telling_warnings(quiet), choosing(bar, search.select) as show:
        data: list[Moments] | pa.Table = shards
        if len(shards) == 1 and search.select != "bic":
            table = rows()
            data = pa.table(dict(zip(table.names, table.values.T, strict=True)))
        search.set_params(callback=show)
        selection = search.choose(data)
    with holding_interrupts():
        output.mkdir(parents=True, exist_ok=True)
        write_text(output / "path.csv", path_text(selection))
        save_figure(lambda: plot_path(selection), output / "path.png")
    return selection
