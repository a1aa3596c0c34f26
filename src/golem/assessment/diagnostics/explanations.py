"""What each finding means: its headline, when it appears and what to do. docs/findings.md is made from this."""

from __future__ import annotations

from typing import NamedTuple


class Explanation(NamedTuple):
    """The words about a finding that do not depend on the table.

    Parameters
    ----------
    headline : str
        The finding in at most 76 characters; some checks write one with numbers of their own.
    meaning : str
        When it is a note or a warning, and what to do, in Markdown.
    needs : str
        What the check needs besides means and covariances: "rows", "experiments", "categories", "series", "bootstrap".
    """

    headline: str
    meaning: str
    needs: str = ""


# The groups of the page, and in each the findings in the order of the page.
GROUPS: dict[str, dict[str, Explanation]] = {
    "Rows": {
        "dependent-rows": Explanation(
            "Rows depend on each other: everything looks surer than it is.",
            "Rank autocorrelations up to lag 10 (Ljung and Box, level 0.0001), rows in groups, and copies of rows "
            "are a warning. The finding states how many independent rows the table is worth. Use one row per "
            "person, differences, or every k-th row; for a time series use `--lags`. Shuffling hides the "
            "dependence. Groups without two columns that are constant within them go unnoticed.",
            "rows",
        ),
        "rows": Explanation(
            "There are few rows for so many columns: weak edges may be chance.",
            "A note below 5 rows per column, a warning below 1.5. Use fewer columns, or trust only edges that a "
            "[bootstrap](stability.md) finds again.",
        ),
        "influential-rows": Explanation(
            "Some edges would vanish without a handful of rows.",
            "For each edge golem leaves out the 1 % of the rows (at most 5) that support it most. A warning names "
            "edges that then gain less than their penalty, and these rows. Check the rows, and fit without them.",
            "rows",
        ),
        "outliers": Explanation(
            "Some rows lie far beyond the others.",
            "An outlier has a residual so extreme that fewer than 0.01 such values are expected in the whole "
            "table. It is a warning if a standardized weight changes by more than 0.1 without these rows. Check "
            "them, or use `--robust ranks`.",
            "rows",
        ),
        "sample": Explanation(
            "The checks used a sample of the rows.",
            "Of tables with more than 5 million numbers, 10,000 rows from all parts of the files are checked. "
            "Copies that are far apart, and rare outliers, can be missing from this sample.",
        ),
        "rows-needed": Explanation(
            "Most checks of the assumptions were not possible for this table.",
            "A model keeps only means and covariances. Pass the rows, or a sample of them: `golem.diagnose(model, X)`.",
        ),
    },
    "Columns": {
        "odd-values": Explanation(
            "Some values may be codes for missing values, or number the rows.",
            "Codes such as -999 at one end of a column, far from all other values, and columns that number the "
            "rows. Use `--na age=-999 --missing em`, or `--drop id`.",
            "rows",
        ),
        "spikes": Explanation(
            "Some columns have many zeros. Do they mean 'not measured'?",
            "0 occurs far more often than any other value. If it means *not measured*, use `--na insulin=0 "
            "--missing em`. Keep real zeros, such as days without rain.",
            "rows",
        ),
        "near-duplicates": Explanation(
            "Some columns are almost copies: golem cannot tell whose edges are whose.",
            "Correlation above 0.995. Keep one of them.",
        ),
        "deterministic": Explanation(
            "Some columns are almost sums of others, such as totals of parts.",
            "R2 above 0.999, for example a total and its parts. Drop one column of the group.",
        ),
        "near-constant": Explanation(
            "Some columns have one value in nearly all rows.",
            "One value or level in more than 95 % of the rows, or a spread below 1e-7 of the mean. A few rows "
            "then carry all its edges.",
        ),
        "conditioning": Explanation(
            "Columns overlap so much that their separate effects are inaccurate.",
            "The condition number of the correlations is above 1e8. Drop columns that others nearly determine.",
        ),
    },
    "The linear model": {
        "linearity": Explanation(
            "Some effects are not straight lines.",
            "For each edge, two curves of the cause are added to the regression. A note from 1 % of the remaining "
            "variance on, a warning from 10 % (F test, level 0.01, Holm). Look at the scatter plots "
            "(`--scatter`), then transform columns, for example with `--log`. Columns of few whole numbers may be "
            "codes of categories. If the noise is not normal, a wrong direction looks curved as well.",
            "rows",
        ),
        "independence": Explanation(
            "At some edges the points do not scatter evenly around the line.",
            "Dependence above 0.1 with a significant test is a note; above 0.25 and on more than a fifth of the "
            "edges, a warning. Reasons: a curved effect, noise that grows, outliers, a hidden common cause, or a "
            "wrong direction.",
            "rows",
        ),
        "normal-residuals": Explanation(
            "The noise is not normal (bell-shaped) in some variables.",
            "Usually a note: the graph does not need normal noise, and other shapes can reveal directions. A "
            "warning if a column has an excess kurtosis above 50 that logarithms do not remove. For a long right "
            "tail use `--log`.",
            "rows",
        ),
        "equal-variances": Explanation(
            "The directions assume equal noise variances, but these differ.",
            "Checked if the model assumes them (`--noise ev`). Bartlett's test, level 0.01; a warning if typical "
            "variances differ by a factor of 1.25. Use the default `--noise auto`.",
        ),
        "factors": Explanation(
            "A few hidden common causes would explain nearly everything.",
            "They fit better than the graph (up to 100 columns: by BIC), which may only imitate them. No direction by "
            "structure is claimed, and from 300 columns on the search is short. A note if the graph of `--paper` fits "
            "worse. Measure what the columns share, or subtract the first principal components.",
        ),
        "limits": Explanation(
            "An unmeasured common cause looks just like an edge; no check can exclude it.",
            "The same holds for rows that were selected by their values, and for feedback. This note is always "
            "present.",
        ),
    },
    "Graph and directions": {
        "directions": Explanation(
            "Some directions have no evidence.",
            "These edges are links. [Add what you know](knowledge.md), or plan an [experiment](interventions.md).",
        ),
        "density": Explanation(
            "The graph has many edges for so few rows: weak ones may be chance.",
            "More than 4 parents per variable: a warning with fewer than 50 rows per parent, where no direction by "
            "structure is claimed; a note if more than 30 % of all pairs have an edge. Dependent rows, curves and long "
            "tails cause many weak edges. `--select stability` finds a sparser graph. An empty graph with an extreme "
            "penalty is a note, too.",
        ),
        "search": Explanation(
            "A second search found a graph that differs from this one.",
            "With more than 20 columns the search is not exact. golem searches again with the columns in reverse "
            "order, shows the better graph, and names the edges that differ. A difference in more than a fifth of "
            "the edges is a warning. Use `--effort thorough`.",
        ),
        "units": Explanation(
            "Some directions would change in other units of the columns.",
            "golem learns the graph again from standardized columns. A loss of more than a fifth of the edges or "
            "directions is a warning. If your columns have different units, use `--noise nv`.",
        ),
        "noise-choice": Explanation(
            "Some arrows would change with a noise model that fits nearly as well.",
            "The note names an arrow that another noise model would change, if its deviance is at most 10 higher. Fit "
            "with `--noise ev` and `--noise nv`, and trust what both share.",
        ),
        "direction-conflicts": Explanation(
            "The size and the shape of the noise support opposite directions.",
            "The edges are named, and neither direction is claimed. If the units differ, use `--noise nv`.",
            "rows",
        ),
        "scores": Explanation(
            "The scores of categories disagree on directions.",
            "The table is also learned with the scores that were not chosen. No direction is claimed that a score "
            "contradicts.",
            "categories",
        ),
        "intervals": Explanation(
            "Some weights lie outside their own bootstrap intervals.",
            "Most resampled graphs lack the edge, reverse it, or give its target other parents. Do not rely on "
            "such a weight.",
            "bootstrap",
        ),
    },
    "Categories": {
        "determined": Explanation(
            "Some variables are determined by others.",
            "The other columns leave less than a millionth of the variance, or give the level in every row, as the age "
            "gives the age group. Drop one of them. If this holds for some levels only, such as *unknown* in two "
            "columns, mark these as missing.",
            "categories",
        ),
        "rare-levels": Explanation(
            "Some categories have levels with few rows.",
            "Levels with fewer than 5 rows make edges expensive and uncertain. Merge them.",
            "categories",
        ),
        "numbers-only": Explanation(
            "Most checks of the assumptions need a table without categories.",
            "The finding names them. To run them, fit the numeric columns alone.",
            "categories",
        ),
    },
    "Experiments": {
        "hard-targets": Explanation(
            "Some targets still depend on their causes: the experiments are not hard.",
            "Their directions are not claimed. Use `--intervention soft`.",
            "experiments",
        ),
        "off-target": Explanation(
            "Experiments seem to change variables that are not listed as targets.",
            "Intercept, slopes or noise variance differ from the other environments (level 0.01, Holm). Add the "
            "target, or doubt the parents of this variable.",
            "experiments",
        ),
        "target-effects": Explanation(
            "Some experiments show no effect on their targets.",
            "The change has a p-value above 0.05: the target may be wrong, or the experiment failed. A shift of "
            "the mean alone is a note: with separate intercepts it gives no direction.",
            "experiments",
        ),
        "small-environments": Explanation(
            "Some experiments have few rows and can settle little.",
            "A note below 30 rows.",
            "experiments",
        ),
    },
    "Time series": {
        "more-lags": Explanation(
            "More lags are needed.",
            "Residuals depend on earlier ones (portmanteau test, level 0.001). Use one lag more.",
            "series",
        ),
        "stationarity": Explanation(
            "Some variables drift.",
            "A root of the autoregression is above 0.98 (panels: 0.96): drifting variables look related. Use "
            "differences, or subtract the trend.",
            "series",
        ),
        "seasonality": Explanation(
            "There is a season that the lags do not cover.",
            "Variables that follow it look connected. Subtract it, for example the mean of each month.",
            "series",
        ),
        "windows": Explanation(
            "There are few windows of time for so many possible causes.",
            "Fewer than 3 per possible cause. Use fewer lags or columns, or a longer series.",
            "series",
        ),
    },
}
EXPLANATIONS: dict[str, Explanation] = {name: one for group in GROUPS.values() for name, one in group.items()}
