"""Faults: signals in every stage, full disks, lost output, read-only folders, concurrent runs.

Every test starts the program as a user does. `GOLEM_FAULT_RUNS` sets the number of signals at random moments, and
`GOLEM_FAULT_SEED` their seed; `make fuzz` uses both.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import golem
from golem import Golem
from golem.workflow import fit_file

RUNS = int(os.environ.get("GOLEM_FAULT_RUNS", "2"))
SEED = int(os.environ.get("GOLEM_FAULT_SEED", "0"))
# Only a hang takes longer, also on a busy machine.
_HANG = 600
FILES = {"graph.json", "edges.csv", "weights.csv", "graph.png", "report.html"}

# Runs golem with a function that first says that it was reached, and then takes long.
_SLOW = """
import importlib, pathlib, sys, time
module, name, seconds, mark = sys.argv[1:5]
sys.argv = ["golem", *sys.argv[5:]]
from golem.cli import main
home = importlib.import_module(module)
plain = getattr(home, name)
def slow(*arguments, **options):
    frame, callers = sys._getframe(), set()
    while frame := frame.f_back:
        callers.add(frame.f_code.co_name)
    if "compile_search" not in callers:
        pathlib.Path(mark).touch()
        time.sleep(float(seconds))
    return plain(*arguments, **options)
setattr(home, name, slow)
main()
"""


def hear_signals():
    """Undo that the children of a job in the background ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Program:
    """A running golem in a folder of its own, with its own folder for temporary files."""

    def __init__(self, folder, *arguments, command=("-m", "golem"), limit=None, stdout=None, env=None):
        (folder / "tmp").mkdir(exist_ok=True)
        paths = {"PYTHONPATH": str(Path(golem.__file__).parents[1]), "TMPDIR": str(folder / "tmp")}

        def prepare():
            hear_signals()
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        self.folder, self.output, self.error = folder, None, None
        with (folder / "data.csv").open("rb") as table, open(stdout or os.devnull, "wb") as sink:
            self.process = subprocess.Popen(
                [sys.executable, *command, *map(str, arguments)],
                cwd=folder,
                preexec_fn=prepare,
                env={**os.environ, **paths, **(env or {})},
                start_new_session=True,
                stdin=table,
                stdout=sink if stdout else subprocess.PIPE,
                stderr=subprocess.PIPE,
            )

    def wait_for(self, path):
        """Wait until the program has written a file."""
        end = time.monotonic() + _HANG
        while not path.exists():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < end
            time.sleep(0.02)

    def wait(self):
        """Wait for the end; return the exit code."""
        if self.error is None:
            self.output, error = self.process.communicate(timeout=_HANG)
            self.error = error.decode(errors="replace")
        return self.process.returncode

    def end(self, expect):
        """Wait for the end; return what it said on standard error. It must leave nothing behind."""
        assert self.wait() == expect, self.error
        error = self.error
        assert "Traceback" not in error
        assert "Exception ignored" not in error
        assert list((self.folder / "tmp").iterdir()) == []
        assert [path for path in self.folder.rglob(".*") if path.name != ".keep"] == []
        return error


def slowly(folder, function, seconds, *arguments, **options):
    """Start golem and wait until it is inside a function, which takes so many seconds longer."""
    home, name = function.rsplit(".", 1)
    program = Program(folder, home, name, seconds, "reached", *arguments, command=("-c", _SLOW), **options)
    program.wait_for(folder / "reached")
    return program


@pytest.fixture
def table(tmp_path):
    return write_table(tmp_path / "data.csv", 5)


def write_table(path, d):
    rows = np.random.default_rng(0).normal(size=(200, d))
    rows[:, 1] += 2 * rows[:, 0]
    np.savetxt(path, rows, delimiter=",", header=",".join(f"v{k}" for k in range(d)), comments="")
    return path.parent


def add_labels(folder):
    """Add a column of text to the table, and write the targets of its labels."""
    lines = (folder / "data.csv").read_text().splitlines()
    labels = ["arm", *(["control", "drug"] * 100)]
    (folder / "data.csv").write_text("".join(f"{line},{label}\n" for line, label in zip(lines, labels, strict=True)))
    (folder / "t.json").write_text('{"control": [], "drug": ["v0"]}')


def test_the_same_command_continues_after_sigterm_with_the_same_result(table):
    options = ("fit", "data.csv", "-q", "--solver=adam", "--noise=nv", "--max-iter=200", "--no-diagnose")
    checkpointed = (*options, "--checkpoint=run.npz")
    program = slowly(table, "golem.gradient.adam.minus_ratio", 0.01, *checkpointed)
    time.sleep(1.5)  # the state is copied every second
    program.process.send_signal(signal.SIGTERM)
    error = program.end(expect=128 + signal.SIGTERM)
    assert "saved in golem-output. The same command continues from run.npz." in error
    with np.load(table / "run.npz", allow_pickle=False) as archive:
        assert int(archive["golem-ev (start)/step"]) > 0
    Program(table, *checkpointed).end(expect=0)
    fit_file(table / "data.csv", table / "whole", Golem("nv", "adam", max_iter=200), diagnose=False)
    written = [(table / folder / "weights.csv").read_text() for folder in ("golem-output", "whole")]
    assert written[0] == written[1]


@pytest.mark.parametrize(
    ("function", "options", "kept"),
    [
        ("golem.workflow.steps.compile_kernels_of", [], "Nothing was written."),
        pytest.param(
            *("golem.workflow.fit.choose", ["--select", "bic"], "Nothing was written."), marks=pytest.mark.slow
        ),
        ("golem.search.tied_order.robust_variance_order", [], "The best graph so far is saved in out."),
        pytest.param(
            *("golem.workflow.steps.bootstrap", ["--bootstrap", "5"], "The graph and 0 resamples are saved in out."),
            marks=pytest.mark.slow,
        ),
        ("golem.workflow.steps.diagnose", [], "The graph, without the checks, is saved in out."),
        pytest.param(
            *("golem.cli.fit.print_json", ["--json"], "The results are saved in out."), marks=pytest.mark.slow
        ),
    ],
)
def test_ctrl_c_in_any_stage_of_a_fit_ends_with_a_sentence_about_what_was_kept(table, function, options, kept):
    quiet = [] if "--json" in options else ["-q"]
    if "tied" in function:
        write_table(table / "data.csv", 14)  # an exact search does not need the order by variance
    program = slowly(table, function, 60, "fit", "data.csv", "-o", "out", *quiet, *options)
    program.process.send_signal(signal.SIGINT)
    assert program.end(expect=130).splitlines()[-1] == f"Interrupted. {kept}"
    assert written(table / "out") == (FILES if "saved" in kept else set())


def test_sigterm_while_files_are_written_completes_them(table):
    program = slowly(table, "golem.workflow.steps.report_document", 0.5, "fit", "-", "-o", "out", "-q")
    program.process.terminate()
    assert program.end(expect=143) == "Interrupted. The results are saved in out.\n"
    assert written(table / "out") == FILES


@pytest.mark.slow
def test_a_second_ctrl_c_ends_a_run_that_takes_long_to_write_and_changes_nothing(table):
    (table / "out").mkdir()
    (table / "out" / "edges.csv").write_text("old")
    program = slowly(table, "golem.workflow.steps.report_document", 60, "fit", "-", "-o", "out", "-q")
    program.process.send_signal(signal.SIGINT)
    time.sleep(1.5)  # two signals in one second count as one
    assert program.process.poll() is None
    program.process.send_signal(signal.SIGINT)
    assert program.end(expect=130) == "Interrupted. Nothing was written.\n"
    assert (table / "out" / "edges.csv").read_text() == "old"
    assert written(table / "out") == {"edges.csv"}


@pytest.mark.slow
def test_ctrl_c_in_compiled_code_ends_the_run(table):
    # The decomposition takes minutes, and Python does not notice signals in it.
    deaf = (
        "import golem.workflow, numpy, pathlib; from golem.cli import main\n"
        "def learn(*arguments):\n"
        "    rows = numpy.random.default_rng(0).normal(size=(6000, 6000))\n"
        "    pathlib.Path('reached').touch()\n"
        "    numpy.linalg.svd(rows)\n"
        "golem.workflow.fit.learn = learn; main()"
    )
    program = Program(table, "fit", "-", "-o", "out", "-q", command=("-c", deaf))
    program.wait_for(table / "reached")
    program.process.send_signal(signal.SIGINT)
    assert program.end(expect=130) == "Interrupted. Nothing was written.\n"


def test_ctrl_c_during_the_imports_is_one_sentence(table):
    # The hook is called at the first import after the signals are handled.
    early = (
        "import sys, time, pathlib, golem.cli\n"
        "class Slow:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'golem.cli.application':\n"
        "            pathlib.Path('reached').touch(); time.sleep(60)\n"
        "sys.meta_path.insert(0, Slow())\n"
        "golem.cli.main()\n"
    )
    program = Program(table, "fit", "data.csv", command=("-c", early))
    program.wait_for(table / "reached")
    program.process.send_signal(signal.SIGINT)
    assert program.end(expect=130) == "Interrupted. Nothing was written.\n"


_COMMANDS = {
    "fit": ["fit", "-", "-o", "out"],
    "bootstrap": ["fit", "data.csv", "-o", "out", "--bootstrap", "500"],
    "select": ["fit", "data.csv", "-o", "out", "--select", "cv"],
    "compare": ["compare", "-", "-o", "out", "--methods", "order,pc"],
    "experiment": ["experiment", "identifiable", "--quick", "--sizes", "5", "--seeds", "20", "-o", "out"],
    "environments": [
        *("fit", "data.csv", "-o", "out", "--bootstrap", "500"),
        "--environment",
        "arm",
        "--targets",
        "t.json",
    ],
    "categories": ["fit", "data.csv", "-o", "out", "--bootstrap", "500"],
}


@pytest.mark.parametrize("run", range(RUNS))
def test_signals_at_random_moments_leave_whole_results_and_one_sentence(table, run):
    chance = random.Random(f"{SEED} {run}")
    name = list(_COMMANDS)[run % len(_COMMANDS)]
    number = chance.choice([signal.SIGINT, signal.SIGTERM])
    write_table(table / "data.csv", 14)
    if name in ("environments", "categories"):
        add_labels(table)
    program = Program(table, *_COMMANDS[name])
    end = time.monotonic() + chance.uniform(0.2, 6)
    while program.process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    over = program.process.poll() is not None
    program.process.send_signal(number)
    code = program.wait()
    if code == -number:
        pytest.skip("The signal came before golem had started.")
    ending = code == 0 and not over
    over = over or ending
    error = program.end(expect=0 if over else 128 + number)
    assert over or "Interrupted. " in error
    whole = {"fit": FILES, "bootstrap": FILES, "select": FILES | {"path.csv", "path.png"}, "environments": FILES}
    whole["categories"] = FILES - {"weights.csv"} | {"coefficients.csv"}
    if name in whole:
        assert written(table / "out") in (set(), whole[name])
        assert ("saved in out" in error or over) == (table / "out" / "graph.json").exists()
    if over:
        pytest.skip(f"The signal came {'as golem ended' if ending else 'after golem had ended'}.")


_REPEATED = {
    "bootstrap": ["fit", "data.csv", "-o", "out", "--bootstrap", "40", "-q"],
    "compare": ["compare", "data.csv", "-o", "out", "--methods", "order,pc", "-q"],
    "experiment": ["experiment", "identifiable", "--quick", "--sizes=5", "--methods=order,order-ev", "-o", "out", "-q"],
}
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


@functools.cache
def undisturbed(name):
    """Return the results of a command that no signal ended, and the seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        write_table(Path(folder, "data.csv"), 8)
        begin = time.monotonic()
        Program(Path(folder), *_REPEATED[name]).end(expect=0)
        return results(Path(folder, "out")), time.monotonic() - begin


def results(folder):
    """Return the tables in a folder of results without their times, by name."""
    found = {}
    for path in folder.glob("*.csv"):
        frame = pd.read_csv(path)
        # The commit is that of the source, which may change while the tests run.
        frame = frame[[name for name in frame if "seconds" not in name and name != "commit"]]
        found[path.name] = frame.sort_values(list(frame)).to_csv(index=False)
    return found


def require_whole(folder):
    """Raise an error for a file that was written in part."""
    for path in folder.iterdir() if folder.exists() else ():
        end = {".png": b"IEND\xaeB`\x82", ".html": b"</html>", ".json": b"}"}.get(path.suffix, b"")
        content = b"\n" if path.is_dir() else path.read_bytes()
        assert content.rstrip().endswith(end), path
        assert path.suffix != ".csv" or content.endswith(b"\n"), path


def strays(program):
    """Return the processes that a program has left behind, given time to end: also those with a session of their own.

    All of them have the folder for temporary files of the program. A child that imports notices only afterwards that
    its parent has ended.
    """
    end, folder = time.monotonic() + _HANG / 2, f"TMPDIR={program.folder / 'tmp'}".encode()
    while time.monotonic() < end:
        left = []
        for environment in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                left += [environment.parent.name] if folder in environment.read_bytes().split(b"\0") else []
        if not left:
            return []
        time.sleep(0.1)
    return left


@pytest.mark.skipif(sys.platform != "linux", reason="needs the list of processes")
@pytest.mark.slow
@pytest.mark.parametrize("run", range(3 * RUNS))
def test_after_a_signal_nothing_is_left_and_a_rerun_gives_the_same_result(tmp_path, run):
    chance, name = random.Random(f"{SEED} again {run}"), list(_REPEATED)[run % 3]
    write_table(tmp_path / "data.csv", 8)
    expected, seconds = undisturbed(name)
    program = Program(tmp_path, *_REPEATED[name])
    time.sleep(chance.uniform(0.1, seconds))
    program.process.send_signal(_SIGNALS[(run // 3 + run) % 3])
    program.wait()
    assert strays(program) == []
    require_whole(tmp_path / "out")
    assert Program(tmp_path, *_REPEATED[name]).wait() == 0
    require_whole(tmp_path / "out")
    assert results(tmp_path / "out") == expected
    assert list((tmp_path / "out").glob(".*")) == []
    opened = os.open(tmp_path / "out", os.O_RDONLY)
    fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises if another process holds it
    os.close(opened)


@pytest.mark.parametrize("allowed", [pytest.param(3000, marks=pytest.mark.slow), 40_000])
def test_a_full_disk_names_the_file_and_keeps_the_earlier_results(table, allowed):
    (table / "out").mkdir()
    for name in FILES:
        (table / "out" / name).write_text("old")
    program = Program(table, "fit", "data.csv", "-o", "out", "-q", limit=allowed)
    error = program.end(expect=1)
    assert error.startswith("Error: File too large: 'out/" + ("graph.json" if allowed == 3000 else "report.html"))
    assert {(table / "out" / name).read_text() for name in FILES} == {"old"}


# Runs a command with a small disk as its folder for results, and shows what is there in the end. A name space of its
# own needs no rights on most machines.
_SMALL_DISK = """
mount -t tmpfs -o size=60k small out || exit 99
echo old > out/edges.csv
"$@"; code=$?
ls -A out; cat out/edges.csv
exit $code
"""


@pytest.mark.slow
def test_a_disk_without_space_names_the_file_and_keeps_the_earlier_results(table):
    (table / "out").mkdir()
    command = ["unshare", "-rm", "sh", "-c", _SMALL_DISK, "sh", sys.executable, "-m", "golem"]
    try:
        run = subprocess.run(
            [*command, "fit", "data.csv", "-o", "out", "-q"], cwd=table, capture_output=True, text=True,
            env=os.environ | {"PYTHONPATH": str(Path(golem.__file__).parents[1])},
        )  # fmt: skip
    except FileNotFoundError:
        pytest.skip("there is no unshare")
    if run.returncode not in (0, 1):
        pytest.skip(f"a disk of its own is not allowed: {run.stderr}")
    assert run.stderr.startswith("Error: No space left on device: 'out/report.html")
    assert (run.returncode, run.stdout) == (1, "edges.csv\nold\n")


def test_a_copy_of_standard_input_that_does_not_fit_is_named(table):
    error = Program(table, "fit", "-", "-o", "out", limit=1000).end(expect=1)
    assert "File too large" in error
    assert "golem-copy-of-" in error
    assert not (table / "out").exists()


@pytest.mark.slow
def test_two_concurrent_runs_leave_the_files_of_one_of_them(table):
    runs = [Program(table, "fit", "data.csv", "-o", "out", "-q", "--seed", str(seed)) for seed in (1, 2)]
    for run in runs:
        run.process.wait(timeout=_HANG)
    for run in runs:
        run.end(expect=0)
    assert written(table / "out") == FILES
    assert json.loads((table / "out" / "graph.json").read_text())["edges"] >= 1


@pytest.mark.parametrize("stream", ["full", *(pytest.param(one, marks=pytest.mark.slow) for one in ("closed", "pipe"))])
def test_lost_output_is_one_sentence_after_the_files_are_saved(table, stream):
    again = "[sys.executable, '-m', 'golem', *sys.argv[1:]]"
    closing = ("-c", f"import os, sys; os.close(1); os.execv(sys.executable, {again})")
    command = closing if stream == "closed" else ("-m", "golem")
    program = Program(
        table, "fit", "data.csv", "-o", "out", command=command, stdout="/dev/full" if stream == "full" else None
    )
    if stream == "pipe":
        program.process.stdout.close()
        program.process.stdout = None
    error = program.end(expect=1 if stream == "full" else 0)
    told = "Error: Standard output could not be written: No space left on device. The results are saved in out."
    assert (told in error) == (stream == "full")
    assert written(table / "out") == FILES


@pytest.mark.slow
def test_an_encoding_without_some_letters_degrades_them(table):
    text = (table / "data.csv").read_text().replace("v1,", "größe\u2192,", 1).replace("v0,", "\u03b1,", 1)
    (table / "data.csv").write_text(text, encoding="utf-8")
    program = Program(table, "fit", "data.csv", "-o", "out", env={"PYTHONIOENCODING": "latin-1"})
    program.end(expect=0)
    assert "größe\\u2192" in program.output.decode("latin-1")
    exported = Program(table, "export", "out/graph.json", "--to", "csv", env={"PYTHONIOENCODING": "latin-1"})
    exported.end(expect=0)
    assert "größe\u2192" in exported.output.decode("utf-8")  # the same bytes as in a file


@pytest.mark.slow
def test_without_a_home_or_a_locale_a_fit_works(table):
    program = Program(table, "fit", "data.csv", "-o", "out", env={"HOME": "/nonexistent", "LC_ALL": "C"})
    program.end(expect=0)
    assert written(table / "out") == FILES


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into read-only folders")
def test_a_read_only_folder_is_refused_before_the_work(table):
    (table / "out").mkdir(mode=0o500)
    assert "is not writable" in Program(table, "fit", "data.csv", "-o", "out").end(expect=1)


def written(folder):
    """Return the names of the files in a folder, which may not exist."""
    return {path.name for path in folder.iterdir()} if folder.exists() else set()
