"""The child process of the studio: it reads the table, learns, checks and resamples.

`answer` is called with one task after the other. A process keeps the table and the last graphs, so that a new edit
needs only the search. The parent kills it to cancel a task, and a new process reads the table again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shlex
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec
from sklearn.base import clone

from golem.assessment.bootstrap import bootstrap
from golem.assessment.second_search import deviance, fit_quietly
from golem.data.source import Purpose, open_source
from golem.data.table import Table
from golem.data.table_checks import require_enough_rows
from golem.estimator.golem import Golem
from golem.graphs.graph_document import GraphDocument
from golem.output.document import Supplement, describe
from golem.runtime.child_process import StoppedError, tell
from golem.runtime.dialects import PAGE, SHELL
from golem.runtime.files import write_text
from golem.runtime.problems import told
from golem.runtime.progress import Counter, ProgressDisplay
from golem.studio.columns import Columns, describe_columns
from golem.studio.edits import Edge, Rule, State, command_words, script_text
from golem.studio.picture import picture
from golem.workflow.steps import check, check_directions, learn, naming_table, search_again, title_of, write
from golem.workflow.usable_table import UsableTable

SEED = 0
# How nice the checks are.
_PATIENCE = 10
# What a pass over the files prepares: parts to resample and to halve, and rows for the checks.
_PASSES = Purpose(divided=True, halved=True, checked=True)


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What to do with the table in a file and a state; the other values belong to some kinds."""

    kind: Literal["begin", "names", "learn", "cost", "assess", "bootstrap", "save"]
    path: str
    state: State = State()
    pair: tuple[str, str] = ("", "")
    rule: Rule = "free"
    replicates: int = 0
    folder: str = ""
    title: str = ""
    history: tuple[str, ...] = ()
    refits: int = 0


@dataclasses.dataclass(frozen=True)
class Learned:
    """A graph, as the server keeps it."""

    model: Golem
    document: GraphDocument
    picture: dict[str, Any]
    notes: tuple[str, ...] = ()
    columns: Columns | None = None
    bootstrap: Any = None


@dataclasses.dataclass(frozen=True)
class Refused:
    """Why a task could not be done, in a sentence."""

    sentence: str


class Telling(ProgressDisplay):
    """Progress that is told to the server, and notes that are kept."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, sentence: str) -> None:
        """Keep a note."""
        self.notes.append(told(sentence, PAGE))

    def worded(self, sentence: str) -> str:
        """Return a sentence with the options of the command line, as the report shows the command."""
        return told(sentence, SHELL)

    @contextlib.contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        """Tell what is being done."""
        tell(("progress", text, None))
        yield

    @contextlib.contextmanager
    def solving(self) -> Iterator[Callable[[Any], None]]:
        """Tell that the search runs, so that it can be stopped."""
        yield lambda state: tell(("progress", "Searching", None))

    @contextlib.contextmanager
    def counting(self, text: str) -> Iterator[Counter | None]:
        """Tell how much is done."""
        tell(("progress", text, 0.0))
        yield lambda done, total: tell(("progress", text, done / max(total, 1)))


class Desk:
    """The table that was read last, and the last graph of it."""

    def __init__(self) -> None:
        self._table: tuple[Any, UsableTable, Table, Columns, tuple[str, ...]] | None = None
        self._learned: tuple[Any, Golem] | None = None
        self._assessed: tuple[Any, Golem, Supplement] | None = None

    def open(self, task: Task, progress: Telling) -> tuple[UsableTable, Table, Columns, tuple[str, ...]]:
        """Read the table, unless the last one was read in the same way."""
        state, reading = task.state, task.state.reading()
        key = task.path, repr(reading), repr(state.targets), repr(state.order())
        if self._table is not None and self._table[0] == key:
            return self._table[1:]
        self._table = self._learned = self._assessed = None
        targets = None if state.targets is None else {label: [*own] for label, own in state.targets.items()}
        model = Golem(**state.order())
        opened = UsableTable(
            lambda reading, strict: open_source(
                [task.path], reading, dataclasses.replace(_PASSES, strict=strict), targets, model.settings.series
            ),
            reading,
            "error",
            chooses_missing=True,
            leaves_out=True,
        )

        def step() -> Table:
            table = opened.read(progress)
            with naming_table([task.path]), opened.source.describing_refusal(opened.missing, progress):
                require_enough_rows(table)
            opened.require_usable(clone(model).set_params(missing=opened.missing), table)
            return table

        table = opened.learn(step, progress)
        columns = describe_columns(opened.source, opened.left_out)
        self._table = key, opened, table, columns, (*progress.notes,)
        return self._table[1:]

    def learn(self, task: Task, progress: Telling) -> Golem:
        """Return the graph of a state, whose directions by structure are not checked yet."""
        opened, table, *_ = self.open(task, progress)
        knowledge = task.state.knowledge(opened.source.names)
        key = self._table and (self._table[0], knowledge)
        if self._learned is None or self._learned[0] != key:
            model = Golem(knowledge=knowledge, missing=opened.missing, evidence="fast", **task.state.order())
            with naming_table([task.path]):
                learn(model, table, progress)
            model.set_params(evidence="auto")  # the rows of the table are here; `assess` checks the directions
            self._learned = key, model
        return self._learned[1]

    def assess(self, task: Task, progress: Telling) -> tuple[Golem, Supplement]:
        """Search again and check directions and graph, as `golem fit` does."""
        model = self.learn(task, progress)
        opened, table, columns, _ = self.open(task, progress)
        key = self._learned and self._learned[0]
        if self._assessed is None or self._assessed[0] != key:
            search_again(model, opened.source, progress)
            check_directions(model, table, progress)
            source = {"paths": [task.path], "folder": None} | vars(opened.reading)
            supplement = Supplement(source, columns.summary, left_out=tuple(opened.left_out))
            tell(("graph", learned(model, supplement, task.state)))
            found = check(model, lambda: opened.source.checked_rows, progress)
            self._assessed = key, model, dataclasses.replace(supplement, diagnosis=found)
        return self._assessed[1:]

    def resampled(self, task: Task, progress: Telling) -> tuple[Golem, Supplement]:
        """Bootstrap the assessed graph; the result so far is told."""
        model, supplement = self.assess(task, progress)
        _, table, *_ = self.open(task, progress)

        def partial(found: Any) -> None:
            tell(("graph", learned(model, dataclasses.replace(supplement, bootstrap=found), task.state)))

        with progress.counting("Bootstrap") as show:
            found = bootstrap(
                model, table, task.replicates, random_state=SEED, n_jobs=1, callback=show, partial=partial
            )
        supplement = dataclasses.replace(supplement, bootstrap=found)
        self._assessed = self._assessed and (self._assessed[0], model, supplement)
        return model, supplement


def learned(model: Golem, supplement: Supplement, state: State, **more: Any) -> Learned:
    """Return a graph for the server."""
    document = describe(model, supplement)
    return Learned(model, document, picture(document, state), bootstrap=supplement.bootstrap, **more)


def cost(desk: Desk, task: Task, progress: Telling) -> float | str:
    """Return how much worse the best graph is under a rule about a pair, in units of the deviance.

    A sentence stands for a rule that contradicts another one.
    """
    opened, table, *_ = desk.open(task, progress)
    base, names = desk.learn(task, progress), frozenset(opened.source.all_names)
    try:
        known = Edge(*task.pair, task.rule).apply(task.state, names).knowledge(opened.source.names)
        model = Golem(knowledge=known, missing=opened.missing, evidence="fast", **task.state.order())
        return max(0.0, round(deviance(fit_quietly(model, table)) - deviance(base), 2))
    except ValueError as error:
        return told(error, PAGE)


def save(desk: Desk, task: Task, progress: Telling) -> list[str]:
    """Write the result files, the knowledge, and the command and script that give the same graph."""
    model, supplement = desk.assess(task, progress)
    document = describe(model, supplement)
    document.refits, document.history = task.refits, [*task.history]
    folder, state = Path(task.folder), task.state
    write(model, folder, document, "The results are", title=task.title or title_of([task.path]))
    known = document.knowledge
    if known is not None:
        write_text(folder / "knowledge.json", msgspec.json.encode(known).decode() + "\n")
    if state.targets:
        write_text(folder / "targets.json", msgspec.json.encode(state.targets).decode() + "\n")
    write_text(folder / "command.sh", shlex.join(command_words(task.path, state)) + "\n")
    write_text(folder / "script.py", script_text(task.path, state, known))
    return sorted(path.name for path in folder.iterdir() if path.is_file())


_DESK = Desk()


def answer(task: Task, start_clock: Callable[[], None]) -> Any:
    """Do a task; a ValueError becomes its sentence, and None says that it was stopped."""
    progress = Telling()
    start_clock()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = _done(_DESK, task, progress)
        if isinstance(found, Learned):
            told_once = dict.fromkeys([*found.notes, *progress.notes, *(told(one.message, PAGE) for one in caught)])
            found = dataclasses.replace(found, notes=(*told_once,))
        return found
    except StoppedError:
        return None
    except (ValueError, OSError, MemoryError) as error:
        return Refused(told(error, PAGE) or type(error).__name__)


def answer_patiently(task: Task, start_clock: Callable[[], None]) -> Any:
    """Do a task in the background: the search, in another process, goes first."""
    os.nice(max(0, _PATIENCE - os.nice(0)))
    return answer(task, start_clock)


def _done(desk: Desk, task: Task, progress: Telling) -> Any:
    """Do a task."""
    if task.kind == "begin":
        return ()
    if task.kind == "names":
        return (*open_source([task.path], task.state.reading(), Purpose(strict=False)).all_names,)
    if task.kind == "cost":
        return cost(desk, task, progress)
    if task.kind == "save":
        return save(desk, task, progress)
    if task.kind == "learn":
        model = desk.learn(task, progress)
        *_, columns, notes = desk.open(task, progress)
        return learned(model, Supplement(), task.state, notes=notes, columns=columns)
    model, supplement = desk.resampled(task, progress) if task.kind == "bootstrap" else desk.assess(task, progress)
    return learned(model, supplement, task.state)
