"""What each finding means: its headline, its question, and what to do. docs/findings.md is generated from this."""

from __future__ import annotations

from typing import NamedTuple


class Explanation(NamedTuple):
    """The words about a finding that do not depend on the table.

    Parameters
    ----------
    question : str
        What the check asks.
    meaning : str
        When it is a note or a warning, and what to do, in Markdown.
    headline : str
        The finding in at most 74 characters; empty if the check writes a line with numbers of its own.
    needs : str
        What the check needs besides means and covariances: "rows", "experiments", "categories", "series", "bootstrap".
    """

    question: str
    meaning: str
    headline: str = ""
    needs: str = ""


# The groups of the page, and in each the findings in the order of the page.
GROUPS: dict[str, dict[str, Explanation]] = {
    "Rows": {
        "dependent-rows": Explanation(
            "Are the rows independent cases?",
            "Rank autocorrelations up to lag 10 (Ljung and Box, level 0.0001), rows that come in groups, and copies of "
            "rows are a warning: edges and directions look surer than they are. The finding states how many "
            "independent rows the table is worth. Use one row per person, differences, or every k-th row; for a time "
            "series use `--lags`. Shuffling hides the dependence. Groups without two columns that are constant within "
            "them go unnoticed.",
            "Rows depend on each other: everything looks surer than it is.",
            "rows",
        ),
        "rows": Explanation(
            "Are there enough rows for the number of columns?",
            "A note below 5 rows per column, a warning below 1.5. Use fewer columns, or trust only edges that a "
            "[bootstrap](stability.md) finds again.",
            "There are few rows for so many columns: weak edges may be chance.",
        ),
        "influential-rows": Explanation(
            "Would an edge vanish without a handful of rows?",
            "For each edge golem leaves out the 1 % of the rows (at most 5) that support it most. A warning names edges "
            "that then gain less than their penalty, and these rows. Check the rows, and fit without them.",
            "",
            "rows",
        ),
        "outliers": Explanation(
            "Are some rows far beyond the others?",
            "An outlier has a residual so extreme that fewer than 0.01 such values are expected in the whole table. It "
            "is a warning if a standardized weight changes by more than 0.1 without these rows. Check them, or use "
            "`--robust ranks`.",
            "",
            "rows",
        ),
        "sample": Explanation(
            "Were all rows checked?",
            "Tables of more than 5 million numbers are checked on 10,000 rows from all parts of the files. Copies that "
            "are far apart, and rare outliers, can be missing from this sample.",
            "The checks used a sample of the rows.",
        ),
        "rows-needed": Explanation(
            "Which checks were left out?",
            "A model keeps only means and covariances. To run the checks that need rows, call "
            "`golem.diagnose(model, X)`, with a sample of the rows if the table is large.",
            "Most checks of the assumptions were not possible without the rows.",
        ),
    },
    "Columns": {
        "odd-values": Explanation(
            "Are some numbers not measurements?",
            "Codes such as -999 at one end of a column, far from all other values, and columns that number the rows. "
            "Use `--na age=-999 --missing em`, or `--drop id`.",
            "Some values may be codes for missing values, or number the rows.",
            "rows",
        ),
        "spikes": Explanation(
            "Does 0 occur far more often than any other value?",
            "Then 0 may mean *not measured*: use `--na insulin=0 --missing em`. Amounts of rain are really 0.",
            "Some columns have many zeros. Do they mean 'not measured'?",
            "rows",
        ),
        "near-duplicates": Explanation(
            "Are two columns almost the same?",
            "A correlation above 0.995. golem cannot tell which of the two has an edge. Keep one of them.",
            "Some columns are almost copies: golem cannot tell whose edges are whose.",
        ),
        "deterministic": Explanation(
            "Do several columns together determine another one?",
            "R2 above 0.999, for example a total and its parts. Drop one column of the group.",
            "Some columns are almost sums of others, such as totals of parts.",
        ),
        "near-constant": Explanation(
            "Does a column hardly vary?",
            "One value or level in more than 95 % of the rows, or a spread below 1e-7 of the mean. A few rows then "
            "carry all its edges.",
            "Some columns have one value in nearly all rows.",
        ),
        "conditioning": Explanation(
            "Do columns overlap so much that weights are inaccurate?",
            "The condition number of the correlations is above 1e8. Drop columns that others nearly determine.",
            "Columns overlap so much that their separate effects are inaccurate.",
        ),
    },
    "The linear model": {
        "linearity": Explanation(
            "Are the effects straight lines?",
            "For each edge, two curves of the cause are added to the regression. A note from 1 % of the remaining "
            "variance on, a warning from 10 % (F test, level 0.01, Holm). Look at the scatter plots (`--scatter`), "
            "then transform columns, for example with `--log`. Columns of few whole numbers may be codes of "
            "categories. If the noise is not normal, a wrong direction looks curved as well.",
            "",
            "rows",
        ),
        "independence": Explanation(
            "Is what remains of a variable independent of its causes?",
            "Dependence above 0.1 with a significant test is a note; above 0.25 and on more than a fifth of the edges, "
            "a warning. Reasons: a curved effect, noise that grows, outliers, a hidden common cause, or a wrong "
            "direction.",
            "",
            "rows",
        ),
        "normal-residuals": Explanation(
            "Is the noise normal?",
            "Usually a note: the graph does not need normal noise, and other shapes can reveal directions. A warning "
            "if a column has an excess kurtosis above 50 that logarithms do not remove. For a long right tail use "
            "`--log`.",
            "The noise is not normal (bell-shaped) in some variables.",
            "rows",
        ),
        "equal-variances": Explanation(
            "Are equal noise variances plausible?",
            'Only if you assumed them (`--noise ev`). Bartlett\'s test, level 0.01; a warning if typical variances differ '
            "by a factor of 1.25. Use the default `--noise auto`.",
            "The directions assume equal noise variances, but these differ.",
        ),
        "factors": Explanation(
            "Would a few hidden common causes explain nearly everything?",
            "Then edges may only imitate them, and no direction by structure is claimed. Measure what the columns "
            "share, or subtract the first principal components.",
        ),
        "limits": Explanation(
            "What can no check see?",
            "Hidden common causes of normal variables, rows that were selected by their values, and feedback. This "
            "note is always present.",
            "An unmeasured common cause looks just like an edge; no check can exclude it.",
        ),
    },
    "Graph and directions": {
        "directions": Explanation(
            "Which directions have no evidence?",
            "These edges are links. [Add what you know](knowledge.md), or plan an [experiment](interventions.md).",
        ),
        "density": Explanation(
            "Is the graph sparse?",
            "More than 4 parents per variable, and also more than 30 % of all pairs (a note) or fewer than 50 rows per "
            "parent (a warning). Dependent rows, curves and long tails cause many weak edges. `--select stability` "
            "finds a sparser graph. An empty graph with an extreme penalty is a note, too.",
            "The graph has many edges for so few rows: weak ones may be chance.",
        ),
        "search": Explanation(
            "Does a second search find the same graph?",
            "With more than 20 columns the search is not exact. golem searches again with the columns in reverse order, "
            "shows the better graph, and names the edges that differ. A difference in more than a fifth of the edges "
            "is a warning. Use `--effort thorough`.",
            "A second search found a graph that differs from this one.",
        ),
        "units": Explanation(
            "How much of the graph depends on the units?",
            "golem learns the graph again from standardized columns. A loss of more than a fifth of the edges or "
            "directions is a warning. If your columns have different units, use `--noise nv`.",
            "Some directions would change in other units of the columns.",
        ),
        "noise-choice": Explanation(
            "Would another noise model change an arrow?",
            "The note names an arrow that a noise model with a deviance at most 10 higher would change. Fit with "
            "`--noise ev` and `--noise nv`, and trust what both share.",
            "Some arrows would change with a noise model that fits nearly as well.",
        ),
        "direction-conflicts": Explanation(
            "Do noise variances and noise shapes contradict each other?",
            "The edges are named, and neither direction is claimed. If the units differ, use `--noise nv`.",
            "The size and the shape of the noise support opposite directions.",
            "rows",
        ),
        "scores": Explanation(
            "Do the scores of categories agree?",
            "The table is also learned with the scores that were not chosen. No direction is claimed that a score "
            "contradicts.",
            "",
            "categories",
        ),
        "intervals": Explanation(
            "Is every weight within its own bootstrap interval?",
            "If not, most resampled graphs lack the edge, reverse it, or give its target other parents. Do not rely "
            "on such a weight.",
            "Some weights lie outside their own bootstrap intervals.",
            "bootstrap",
        ),
    },
    "Categories": {
        "determined": Explanation(
            "Does a variable follow from others?",
            "Others leave less than a millionth of its variance, or rows with the same levels of its neighbours always "
            "have the same level, such as an age group and the age. Drop one of them. If only some levels follow, "
            "such as *unknown* in two columns, mark these as missing.",
            "Some variables are determined by others.",
            "categories",
        ),
        "rare-levels": Explanation(
            "Do all levels have enough rows?",
            "Levels with fewer than 5 rows make edges expensive and uncertain. Merge them.",
            "Some categories have levels with few rows.",
            "categories",
        ),
        "numbers-only": Explanation(
            "Which checks need a table without categories?",
            "The note names them. To run them, fit the numeric columns alone.",
            "Most checks of the assumptions need a table without categories.",
            "categories",
        ),
    },
    "Experiments": {
        "hard-targets": Explanation(
            "Does a target of a hard intervention still depend on its causes?",
            "Then the intervention is not hard, and its directions are not claimed. Use `--intervention soft`.",
            "Some targets still depend on their causes: the experiments are not hard.",
            "experiments",
        ),
        "off-target": Explanation(
            "Does an experiment change a variable that is not its target?",
            "golem compares intercept, slopes and noise variance with the other environments (level 0.01, Holm). "
            "Add the target, or doubt the parents of this variable.",
            "Experiments seem to change variables that are not listed as targets.",
            "experiments",
        ),
        "target-effects": Explanation(
            "Does each experiment change its targets?",
            "A target without a change (p above 0.05) may be wrong, or the experiment failed. A shift of the mean "
            "alone is a note: with separate intercepts it gives no direction.",
            "Some experiments show no effect on their targets.",
            "experiments",
        ),
        "small-environments": Explanation(
            "Does every environment have enough rows?",
            "A note below 30 rows.",
            "Some experiments have few rows and can settle little.",
            "experiments",
        ),
    },
    "Time series": {
        "more-lags": Explanation(
            "Do the lags suffice?",
            "Residuals that depend on earlier ones (portmanteau test, level 0.001) are a warning. Use one lag more.",
            "",
            "series",
        ),
        "stationarity": Explanation(
            "Does a variable drift?",
            "A root of its autoregression above 0.98 is a warning: drifting variables look related. Use differences, "
            "or subtract the trend.",
            "",
            "series",
        ),
        "seasonality": Explanation(
            "Is there a season that the lags do not cover?",
            "All variables follow it, so it looks like edges. Subtract it, for example the mean of each month.",
            "",
            "series",
        ),
        "windows": Explanation(
            "Are there enough windows of time?",
            "A note below 3 windows per possible cause. Use fewer lags or columns, or a longer series.",
            "",
            "series",
        ),
    },
}  # fmt: skip
EXPLANATIONS: dict[str, Explanation] = {name: one for group in GROUPS.values() for name, one in group.items()}
