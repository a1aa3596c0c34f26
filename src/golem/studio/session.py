"""A session: the journal of what the user said, and two child processes, one that learns and one that checks.

Every edit is written to the journal before it is acknowledged. The learner then learns the newest state; edits that
arrive meanwhile are learned together. The checker follows with the directions, the findings and the bootstrap, and is
killed when they are out of date.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from golem.studio import answers
from golem.studio.background import CancelledWorkError, Worker
from golem.studio.earlier import Earlier
from golem.studio.edits import AnyEdit, rules_about
from golem.studio.journal import Data, Journal
from golem.studio.picture import neighbourhood, picture_summary
from golem.studio.worker import Learned, Task

# An edit ends a search that has run longer; a shorter one is faster than a new process.
_LONGEST_SEARCH = 3.0
# The checks wait so long for the next edit.
_PAUSE = 0.4
RESULTS = "results"
PartName = Literal["state", "earlier", "graph", "columns", "findings", "progress", "problem", "saved"]


class Session:
    """All that the server knows; its methods run in the event loop.

    Parameters
    ----------
    folder : Path
        The folder of the session, with its journal, uploaded tables, snapshots and results.
    table : Path, optional
        The table to open at the start, unless the journal has it already.
    edits : sequence of edits
        What to do with that table.
    """

    def __init__(self, folder: Path, table: Path | None = None, edits: Sequence[AnyEdit] = ()) -> None:
        self.folder, self._first = folder, (table, edits)
        for name in ("", "tables", "snapshots", RESULTS):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self.journal = Journal(folder / "journal.jsonl")
        self.earlier = Earlier(folder / "start.json")
        self.parts: dict[PartName, Any] = {
            "progress": None, "problem": None, "earlier": None, "graph": None, "saved": None,
        }  # fmt: skip
        self.learned: Learned | None = None
        self.learner, self.checker = Worker("answer"), Worker("answer_patiently")
        self._watchers: set[_Watcher] = set()
        self._newest = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._checking: asyncio.Task[None] | None = None
        self._round = 0
        self._publish("state", self.state_part())

    def start(self) -> None:
        """Begin to learn."""
        loop = asyncio.get_running_loop()
        self._tasks |= {loop.create_task(self._begin(worker)) for worker in (self.learner, self.checker)}
        self._tasks.add(loop.create_task(self._learn_forever()))
        table, edits = self._first
        if table is not None and (edits or str(table.resolve()) != self.journal.data.path):
            self._tasks.add(loop.create_task(self._open_first(table, edits)))
        elif self.journal.data.path:
            self._newest.set()

    async def _begin(self, worker: Worker) -> None:
        """Start a process before there is work: its imports take seconds."""
        with contextlib.suppress(ValueError, CancelledWorkError, RuntimeError):
            await worker.do(Task(kind="begin", path=""))

    async def _open_first(self, path: Path, edits: Sequence[AnyEdit]) -> None:
        """Open the table of the command line; what is wrong with it is shown on the page."""
        try:
            if str(path.resolve()) != self.journal.data.path:
                await self.load(path.resolve(), path.name)
            for edit in edits:
                self.change("edit", None, edit=edit)
        except ValueError as error:
            self._publish("problem", str(error))

    async def close(self) -> None:
        """End all work."""
        self._stop_checking()
        self.learner.close()
        self.checker.close()
        for task in [*self._tasks, *filter(None, [self._checking])]:
            task.cancel()
        self.journal.close()

    # What the page asks for

    async def load(self, path: Path, title: str, version: int | None = None) -> None:
        """Open another table; raise a ValueError, and keep the present one, if it cannot be read."""
        names = await self.learner.do(Task(kind="names", path=str(path)))
        self.learned = None
        self.journal.add("load", version, data=Data(path=str(path), title=title, names=names))
        self.earlier.clear()
        for name in ("earlier", "graph", "saved"):
            self._publish(name, None)
        self._changed()

    def change(self, action: str, version: int | None, **content: object) -> None:
        """Write an edit, undo, redo or restore into the journal, and learn."""
        self._require_data()
        self.journal.add(action, version, **content)
        self._changed()

    def snapshot(self, name: str, version: int | None) -> None:
        """Keep the present state and graph under a name."""
        self._require_data()
        if not name.strip() or len(name) > 200:
            raise ValueError("A snapshot needs a name of at most 200 letters.")
        self.journal.add("snapshot", version, name=name.strip())
        content = msgspec.json.encode(self.parts["graph"])
        (self.folder / "snapshots" / f"{self.journal.version}.json").write_bytes(content)
        self._publish("state", self.state_part())

    def snapshot_graph(self, number: int) -> Any:
        """Return the graph of a snapshot."""
        if number not in [one.number for one in self.journal.snapshots]:
            raise ValueError("There is no such snapshot.")
        return msgspec.json.decode((self.folder / "snapshots" / f"{number}.json").read_bytes())

    async def costs(self, cause: str, effect: str) -> dict[str, float | str]:
        """Return what rules about a pair cost; an edit ends it, as the page asks again."""
        self._require_data()
        version, found = self.journal.version, dict[str, float | str]()
        for name, (rule, pair) in rules_about(cause, effect).items():
            if version == self.journal.version:  # one task per rule, so that an edit waits for one only
                found[name] = await self.learner.do(self._task("cost", pair=pair, rule=rule))
        return found

    async def effects(self, source: str) -> list[dict[str, Any]]:
        """Return what changes if a variable is set higher."""
        return await asyncio.to_thread(answers.effects, self._require_graph(), source)

    async def neighbourhood(self, name: str, steps: int) -> dict[str, Any]:
        """Return the part of the graph around a variable."""
        document = self._require_graph().document
        return await asyncio.to_thread(neighbourhood, document, self.journal.state, name, steps)

    def adjustment(self, cause: str, effect: str) -> dict[str, Any]:
        """Return the variables to adjust for, if the directions that have evidence determine them."""
        return answers.adjustment(self._require_graph(), cause, effect)

    def bootstrap(self, replicates: int) -> None:
        """Bootstrap in the background."""
        self._require_data()
        if not 1 <= replicates <= 1000:
            raise ValueError("The number of resamples must be between 1 and 1000.")
        self._check(replicates)

    def cancel(self) -> None:
        """End the work in the background, and a search."""
        self._stop_checking(out_of_date=False)
        self.learner.cancel()
        self._publish("progress", None)

    async def save(self) -> dict[str, Any]:
        """Write the results into the folder of the session; return the names of the files."""
        self._require_graph()
        journal, version = self.journal, self.journal.version
        task = self._task(
            "save",
            folder=str(self.folder / RESULTS),
            title=journal.data.title,
            history=(*journal.history,),
            refits=journal.refits,
        )
        if self._checking is not None:
            await self._checking
        found: list[str] = await self.checker.do(task, self._hear)
        self._publish("progress", None)
        saved = {"version": version, "files": found}
        self._publish("saved", saved)
        return saved

    # Work in the background

    async def _learn_forever(self) -> None:
        """Learn the newest state whenever there is one."""
        while True:
            await self._newest.wait()
            self._newest.clear()
            self._stop_checking()
            version = self.journal.version
            try:
                found = await self.learner.do(self._task("learn"), self._hear)
            except CancelledWorkError:
                if not self._newest.is_set():
                    self._publish("problem", "The search was cancelled.")
                continue
            except ValueError as error:
                self._publish("problem", str(error))
                continue
            finally:
                self._publish("progress", None)
            self.journal.learned(version)
            self._show(found, version, checked=False)
            if not self._newest.is_set():
                self._check(0)

    def _check(self, replicates: int) -> None:
        """Check the graph in the background, and bootstrap it."""
        self._stop_checking()
        self._checking = asyncio.get_running_loop().create_task(self._checked(replicates, self._round))

    async def _checked(self, replicates: int, number: int) -> None:
        """Check the graph, unless another round begins."""
        version = self.journal.version

        def hear(news: Any) -> None:
            if number == self._round:
                self._hear(news)
                if news[0] == "graph":
                    self._show(news[1], version, checked=True)

        await asyncio.sleep(0 if replicates else _PAUSE)
        if number != self._round:
            return
        try:
            task = self._task("bootstrap" if replicates else "assess", replicates=replicates)
            hear(("graph", await self.checker.do(task, hear, lambda: number == self._round)))
        except CancelledWorkError:
            return
        except ValueError as error:
            self._publish("problem", str(error))
        if number == self._round:
            self._publish("progress", None)

    def _stop_checking(self, out_of_date: bool = True) -> None:
        """End the checks of an earlier state; the thread that waits for their process must come to its end."""
        self._round += 1
        self.checker.cancel(out_of_date)

    def _changed(self) -> None:
        """Publish the state, and learn it."""
        self._publish("state", self.state_part())
        self._publish("problem", None)
        if self.learner.seconds > _LONGEST_SEARCH:
            self.learner.cancel(out_of_date=True)
        self._newest.set()

    def _hear(self, news: Any) -> None:
        """Publish progress."""
        if news[0] == "progress":
            self._publish("progress", {"text": news[1], "share": news[2]})

    def _show(self, found: Learned, version: int, checked: bool) -> None:
        """Publish a graph."""
        self.learned = found
        document = found.document
        path, edges = self.journal.data.path, found.picture["edges"]
        self._publish("earlier", self.earlier.show(edges, path=path, version=version, checked=checked))
        graph = picture_summary(found.picture, document) | {"version": version, "checked": checked}
        self._publish("graph", graph | {"refits": self.journal.refits})
        self._publish("state", self.state_part())
        if found.columns is not None:
            columns = {"rows": found.columns.rows, "columns": found.columns.columns, "notes": found.columns.notes}
            self._publish("columns", columns | {"messages": [*found.notes]})
        if not checked:
            self._publish("findings", None)
        elif document.diagnostics is not None:
            rows = [msgspec.to_builtins(one) for one in document.diagnostics]
            self._publish("findings", {"version": version, "findings": rows})

    def _task(self, kind: Any, **more: Any) -> Task:
        return Task(kind=kind, path=self.journal.data.path, state=self.journal.state, **more)

    def _require_data(self) -> None:
        if not self.journal.data.path:
            raise ValueError("There is no table yet. Open a file or an example first.")

    def _require_graph(self) -> Learned:
        self._require_data()
        if self.learned is None:
            raise ValueError("There is no graph yet.")
        return self.learned

    # Parts of the page and those who watch them

    def state_part(self) -> dict[str, Any]:
        """Return the state as the page shows it."""
        journal = self.journal
        return {
            "version": journal.version,
            "title": journal.data.title,
            "names": journal.data.names,
            "state": msgspec.to_builtins(journal.state),
            "can_undo": journal.can_undo,
            "can_redo": journal.can_redo,
            "refits": journal.refits,
            "history": journal.history[-100:],
            "edits": len(journal.history),
            "snapshots": [{"number": one.number, "name": one.name} for one in journal.snapshots],
        }

    def _publish(self, name: PartName, content: Any) -> None:
        """Keep a part, and wake those who watch."""
        self.parts[name] = content
        for watcher in self._watchers:
            watcher.changed(name)

    async def watch(self) -> AsyncIterator[tuple[PartName, Any]]:
        """Yield all parts, then those that change; what changes twice before it is read is yielded once."""
        watcher = _Watcher([*self.parts])
        self._watchers.add(watcher)
        try:
            while True:
                for name in await watcher.next():
                    yield name, self.parts[name]
        finally:
            self._watchers.discard(watcher)


class _Watcher:
    """The names of parts that somebody has not seen yet."""

    def __init__(self, names: list[PartName]) -> None:
        self._unseen = dict.fromkeys(names)
        self._woken = asyncio.Event()
        self._woken.set()

    def changed(self, name: PartName) -> None:
        """Note that a part has changed."""
        self._unseen[name] = None
        self._woken.set()

    async def next(self) -> list[PartName]:
        """Wait for changes, and return the names of the parts."""
        await self._woken.wait()
        self._woken.clear()
        names, self._unseen = [*self._unseen], {}
        return names


def upload_path(folder: Path, ending: str) -> Path:
    """Return a new file for an uploaded table in the folder of a session."""
    return next(path for k in itertools.count(1) if not (path := folder / "tables" / f"table-{k}{ending}").exists())
