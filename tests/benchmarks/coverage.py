"""How often an interval holds the truth: simulated campaigns of known effect, by `python -m tests.benchmarks.coverage`.

This is what the levels that are resampled were chosen by. Of each design it prints how often the bootstrap interval of
the rule set, the t interval on company means, and one that resamples cases alone hold the true effect, and how often a
campaign passes `improvement` whose true effect is the tolerance: that conclusion is wrong, and at most 4% may draw it.
"""

from itertools import product
from typing import Annotated, NamedTuple

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from assets.campaigns.bootstrap import seed
from assets.campaigns.contract import CASE
from assets.campaigns.effects import nodes
from assets.campaigns.intervals import COMPANY, Estimate, Interval, estimate
from assets.campaigns.registration import Registration
from assets.campaigns.verdict import concluded
from assets.rulesets.loader import RuleSet, load_all
from tests.assets.campaigns.effect_layer import Effects, pairs, registration
from tests.reference.campaigns import Case

TOLERANCE = 0.05
MOST_WRONG = 0.04


class Design(NamedTuple):
    """How many of each there are within their parent, and the standard deviations of the effects of each level."""

    families: int
    companies: int
    tasks: int
    scenarios: int
    of_company: float
    of_task: float
    of_case: float

    def __str__(self) -> str:
        """As a row of the table."""
        return f"{', '.join(map(str, self[:4]))}; sd {self.of_company}, {self.of_task}, {self.of_case}"

    def simulated(self, generator: np.random.Generator) -> Effects:
        """The effects of one campaign; the true one is the tolerance."""
        sizes = self[:4]
        company = generator.normal(0, self.of_company, sizes[:2])[:, :, None, None]
        task = generator.normal(0, self.of_task, sizes[:3])[:, :, :, None]
        values = TOLERANCE + company + task + generator.normal(0, self.of_case, sizes)
        keys = product(*(range(size) for size in sizes))
        cases: list[Case] = [(f"f{f}", f"c{c}", f"t{t}", f"s{s}", 1) for f, c, t, s in keys]
        return dict(zip(cases, values.ravel().tolist(), strict=True))


DESIGNS = [
    Design(*sizes, *deviations)
    for sizes in ((4, 5, 5, 4), (2, 3, 2, 2))
    for deviations in ((0.1, 0.1, 0.3), (0.2, 0.1, 0.2))
]


class Told(NamedTuple):
    """Whether each interval of one campaign holds the truth, and whether its conclusion is wrong."""

    bootstrap: bool
    t_interval: bool
    cases: bool
    wrong: bool


def campaign(effects: Effects, rules: RuleSet, number: int) -> Told:
    """What one simulated campaign says."""
    of = registration(effects, campaign_id=f"simulated-{number}", tolerance=TOLERANCE)
    found, companies = estimated(of, effects, rules)
    # Each case as a company of one family: then cases are all that is resampled, whatever they belong to.
    alone, _ = estimated(of, {("f", f"c{n:06}", "t", "s", 1): value for n, value in enumerate(effects.values())}, rules)
    return Told(
        holds(found.interval),
        holds(found.t_interval),
        holds(alone.interval),
        concluded(of, found, companies, (), rules).verdict == "pass",
    )


def estimated(of: Registration, effects: Effects, rules: RuleSet) -> tuple[Estimate, int]:
    """The estimate, and the number of companies."""
    table = pairs(of, effects).sort(CASE)
    levels = nodes(table)
    return estimate(levels, table["effect"], seed(of.campaign_id, of.metric, rules), rules), levels[COMPANY].height


def holds(interval: Interval | None) -> bool:
    """Whether the truth lies within."""
    return interval is not None and interval.low <= TOLERANCE <= interval.high


def shares(design: Design, campaigns: int, rules: RuleSet) -> Told:
    """The shares of campaigns of a design."""
    generator = np.random.default_rng(1)
    told = [campaign(design.simulated(generator), rules, number) for number in range(campaigns)]
    return Told(*np.mean(told, axis=0).tolist())


def study(campaigns: Annotated[int, typer.Option(min=1, help="Simulated campaigns of each design.")] = 400) -> None:
    """Print the coverage of every design; fail where wrong conclusions are too many."""
    rules = load_all()["v1"]
    table = Table("design", "bootstrap", "t interval", "cases alone", "wrong conclusions")
    results = {design: shares(design, campaigns, rules) for design in DESIGNS}
    for design, told in results.items():
        table.add_row(str(design), *(f"{share:.1%}" for share in told))
    Console(width=120).print(table)
    if max(told.wrong for told in results.values()) > MOST_WRONG:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(study)
