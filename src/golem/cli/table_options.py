"""The options of reading a table, declared once for all commands that read one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, get_type_hints

from golem.cli import options

if TYPE_CHECKING:
    from golem.data.table_source import Reading


@dataclass(frozen=True)
class TableOptions:
    """What was typed about a table."""

    missing: options.Missing = "error"
    na: options.NotAvailable = field(default_factory=list)
    categorical: options.Categorical = field(default_factory=list)
    numeric: options.Numeric = field(default_factory=list)
    columns: options.Columns = None
    drop: options.Drop = field(default_factory=list)
    drop_dependent: options.DropDependent = False
    header: options.Header = None
    covariance: options.Covariance = False
    rows: options.Rows = None

    @property
    def reading(self) -> Reading:
        """How the files are read."""
        from golem.data.table_source import Reading

        return Reading(
            options.names(self.columns),
            options.all_names(self.drop),
            self.header,
            self.na,
            options.all_names(self.categorical),
            options.all_names(self.numeric),
            self.covariance,
            self.rows,
        )


def reads_table(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command one option per field of `TableOptions`, except some, in the place of its parameter `table`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(TableOptions, include_extras=True)
        shared = [
            inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, annotation=hints[one.name], default=default)
            for one, default in ((one, getattr(TableOptions(), one.name)) for one in fields(TableOptions))
            if one.name not in without
        ]
        own = get_type_hints(command, include_extras=True)
        parameters: list[inspect.Parameter] = []
        for one in inspect.signature(command).parameters.values():
            plain = one.replace(annotation=own[one.name], kind=inspect.Parameter.KEYWORD_ONLY)
            parameters += shared if one.name == "table" else [plain]

        @functools.wraps(command)
        def run(**given: Any) -> None:
            table = TableOptions(**{one.name: given.pop(one.name) for one in shared})
            command(table=table, **given)

        # Typer takes the options from these two.
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorate
