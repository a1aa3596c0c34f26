"""Settings in messages: as parameters of Python, for tables in files, and as options of the command line."""

from __future__ import annotations

import pytest

from golem.runtime.option_words import SCATTER_PLOTS, as_categories, as_missing, as_options, dropping, for_files


@pytest.mark.parametrize(
    ("message", "files", "options"),
    [
        (f"Drop it: {dropping(['a b'])}.", "Drop it: drop=['a b'].", "Drop it: --drop 'a b'."),
        (f"Use {as_categories(['a', 'b'])}.", "Use categorical=['a', 'b'].", "Use --categorical a,b."),
        (f"Use {as_missing([('a', '-9')])}.", "Use na=['a=-9'].", "Use --na a=-9."),
        (f"{as_missing([('a', '0'), ('b', '1')])}", "na=['a=0', 'b=1']", "--na a=0 --na b=1"),
        ("It needs targets=... Add it.", "It needs targets=... Add it.", "It needs --targets. Add it."),
        ("Use effort=... or noise='nv'.", "Use effort=... or noise='nv'.", "Use --effort or --noise nv."),
        ("Use (columns=[...]).", "Use (columns=[...]).", "Use (--columns)."),
        ("Use environments=True.", "Use environments=True.", "Use --environments."),
        ("Use environments='a'.", "Use environments='a'.", "Use --environment a."),
        ("Remove header=False.", "Remove header=False.", "Remove --no-header."),
        ("Use golem.fit_file(..., drop_dependent=True).", "Use drop_dependent=True.", "Use --drop-dependent."),
        ("noise_std must be low.", "noise_std must be low.", "--noise-std must be low."),
        (f"Look at it: {SCATTER_PLOTS}.", "Look at it: scatter=True.", "Look at it: --scatter."),
    ],
)
def test_a_message_names_what_applies_to_the_caller(message: str, files: str, options: str) -> None:
    """In Python the table or a parameter, on the command line an option."""
    assert for_files(message) == files
    assert as_options(message) == as_options(files) == options


def test_names_that_look_like_settings_stay() -> None:
    """A column has its own name."""
    assert as_options("Column 'noise=nv' is constant.") == "Column 'noise=nv' is constant."


@pytest.mark.parametrize("name", ["it's", 'a "b"', "a,b", "new\nline", "[x]", "\\"])
def test_any_name_survives(name: str) -> None:
    """A name with quotes, commas or brackets can be pasted into a shell."""
    import csv
    import shlex

    [word, value] = shlex.split(as_options(dropping([name])))
    assert (word, next(csv.reader([value], strict=True)) if "\n" not in name else [name]) == ("--drop", [name])
