"""The report: what it says, that names cannot act in it, and that null is no value and never 0."""

import re
import unicodedata
from itertools import pairwise

import polars as pl
import pytest

from assets.campaigns.report import MAX_CHANGED, MAX_LISTED, report
from assets.vocabulary import CLASSES
from tests.assets.campaigns import reported
from tests.assets.campaigns.page import Element, read

NAMES = sorted(reported.ALL)
NO_VALUE = "no value"
ELEMENTS = {
    "#document", "html", "head", "meta", "link", "title", "style", "body", "header", "main", "footer", "section",
    "h1", "h2", "h3", "p", "b", "bdi", "code", "data", "small", "span", "ul", "li", "dl", "div", "dt", "dd",
    "table", "thead", "tbody", "tfoot", "tr", "th", "td", "details", "summary", "figure", "figcaption",
    "svg", "g", "desc", "rect", "line", "path", "circle", "text", "tspan",
}  # fmt: skip


def page(name: str) -> Element:
    return read(report(*reported.ALL[name]()))


def table(of: Element, head: str) -> list[list[str]]:
    """The rows of the table whose first column has this head."""
    (found,) = [rows for element in of.elements("table") if (rows := element.rows())[0][0] == head]
    return found[1:]


def definitions(of: Element, kind: str) -> dict[str, str]:
    """The terms of a list of this class, and what each is."""
    (found,) = [element for element in of.elements("dl") if element.attributes["class"] == kind]
    terms, meanings = ([part.text() for part in found.elements(tag)] for tag in ("dt", "dd"))
    return dict(zip(terms, meanings, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_the_same_comparison_gives_the_same_bytes(name: str) -> None:
    made = reported.ALL[name]()
    shuffled = made._replace(
        compared=made.compared._replace(
            pairs=made.compared.pairs.sample(fraction=1, shuffle=True, seed=1),
            effects=made.compared.effects.sample(fraction=1, shuffle=True, seed=2),
        ),
        failed_predicates=made.failed_predicates.reverse(),
        unregistered=made.unregistered.reverse(),
    )
    assert report(*made) == report(*made) == report(*shuffled)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_one_file_that_asks_for_nothing(name: str) -> None:
    html = report(*reported.ALL[name]())
    of = read(html)

    assert html.startswith('<!doctype html>\n<html lang="en">')
    assert {element.tag for element in of.elements()} <= ELEMENTS
    attributes = [(key, value) for element in of.elements() for key, value in element.attributes.items()]
    assert {value for key, value in attributes if key in {"href", "src", "xlink:href", "action"}} == {"data:,"}
    assert not [key for key, _ in attributes if key.startswith("on")]
    (style,) = of.elements("style")
    assert not re.search(r"@import|url\(|@font-face", "".join(map(str, style.parts)))
    first, policy, *_ = of.elements("meta")
    assert first.attributes == {"charset": "utf-8"}
    assert policy.attributes["content"].startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:;")


@pytest.mark.parametrize("name", NAMES)
def test_it_is_built_for_everyone(name: str) -> None:
    of = page(name)

    levels = [int(element.tag[1]) for element in of.elements("h1", "h2", "h3")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all(cell.attributes.get("scope") in {"col", "row"} for cell in of.elements("th"))
    assert all(cell.text() for cell in of.elements("th"))
    pictures = [svg for svg in of.elements("svg") if svg.parent is None or not svg.parent.within("svg")]
    assert all(
        picture.attributes.get("aria-hidden") == "true"
        or (picture.attributes.get("role") == "img" and next(picture.elements("title")).text())
        for picture in pictures
    )
    ids = [element.attributes["id"] for element in of.elements() if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    labels = {name for element in of.elements() for name in element.attributes.get("aria-labelledby", "").split()}
    assert labels <= set(ids)


def test_a_conclusive_report_says_what_was_found() -> None:
    made = reported.conclusive()
    row = made.compared.comparison.row(0, named=True)
    of = page("conclusive")

    assert of.by_id("verdict").text() == "Verdict: pass"
    verdict = next(section for section in of.elements("section") if "verdict" in section.attributes["class"])
    assert "The treatment is better, as claimed: the whole 95% interval lies above +0.05." in verdict.text()
    assert "the treatment is better than the baseline by more than 0.05" in verdict.text()
    assert definitions(of, "figures") == {
        "Effect": f"{row['effect']:+.4f} share of cases; positive is better",
        "95% bootstrap interval": f"{row['ci_low']:+.4f} to {row['ci_high']:+.4f}",
        "95% t interval": f"{row['t_low']:+.4f} to {row['t_high']:+.4f}",
        "Wins, ties, losses": f"{row['wins']}, {row['ties']}, {row['losses']}",
        "Standard error": f"{row['std_error']:.4f}",
        "Minimum detectable effect": f"{row['mde']:.4f}",
        "Tolerance": "±0.05",
        "Pairs with two values": "108 of 108",
    }
    values = [element.attributes["value"] for element in of.elements("data")]
    assert str(row["effect"]) in values
    assert str(row["ci_low"]) in values
    assert "108 registered pairs in 3 families, 9 companies, 27 tasks and 108 scenarios" in of.text()
    assert "two-one-sided test (TOST) at α = 0.025" in of.text()


def test_the_pictures_say_in_words_what_they_show() -> None:
    of = page("conclusive")
    row = reported.conclusive().compared.comparison.row(0, named=True)
    described = of.by_id("interval-desc").text()
    assert f"Bootstrap interval from {row['ci_low']:+.4f} to {row['ci_high']:+.4f}." in described
    assert "Tolerance band from −0.05 to +0.05." in described
    assert (
        of.by_id("outcomes-title").text()
        == f"{row['wins']} wins, {row['ties']} ties and {row['losses']} losses of 108 pairs"
    )


def test_the_forest_tells_every_family_and_company() -> None:
    rows = table(page("conclusive"), "Family, company")
    names = [row[0] for row in rows]
    assert names[0] == "hiring 36 pairs, weight 33.3%"
    assert names[1] == "acme 12 pairs, weight 11.1%"
    assert len(names) == 3 + 9 + 1 + 1
    assert names[-2] == "All families 108 pairs, weight 100.0%"
    assert rows[-2][1] == f"{reported.conclusive().compared.comparison['effect'][0]:+.3f}"


def test_the_inventory_is_a_waterfall_of_classes() -> None:
    rows = table(page("incomplete"), "Cases")
    assert [row[0].split(" ")[0] for row in rows] == [
        "Registered", "Missing", "Infrastructure", "Agent", "Inconclusive", "Ineligible", "Eligible"
    ]  # fmt: skip
    assert [row[1:] for row in rows] == [
        ["16", "16"], ["0", "−1"], ["−1", "0"], ["0", "−1"], ["0", "−1"], ["−1", "−1"], ["14", "12"]
    ]  # fmt: skip
    assert len(rows) == len(CLASSES) + 1


def test_why_sides_have_no_value_is_counted_and_each_such_pair_is_listed() -> None:
    of = page("incomplete")
    assert table(of, "Class and reason") == [
        ["ineligible cash floor", "1", "1"],
        ["agent failure crashed", "0", "1"],
        ["inconclusive duplicate case", "0", "1"],
        ["missing no artifact", "0", "1"],
        ["infrastructure failure sandbox lost", "1", "0"],
    ]
    (listed,) = [
        element for element in of.elements("table") if element.attributes.get("aria-labelledby") == "undecided"
    ]
    assert listed.rows()[1:] == [
        ["hiring / acme / keep-cash / s1, repeat 1", "120,000 eligible", "no value missing: no artifact"],
        [
            "hiring / acme / raise-price / s2, repeat 1",
            "no value infrastructure failure: sandbox lost",
            "no value agent failure: crashed",
        ],
        ["hiring / bolt / raise-price / s1, repeat 1", "150,000 eligible", "no value inconclusive: duplicate case"],
        [
            "pricing / acme / keep-cash / s2, repeat 1",
            "no value ineligible: cash floor",
            "no value ineligible: cash floor",
        ],
    ]


@pytest.mark.parametrize("name", ["incomplete", "refused"])
def test_null_is_no_value_and_never_zero(name: str) -> None:
    of = page(name)
    shown = definitions(of, "figures")
    for figure in (
        "Effect", "95% bootstrap interval", "95% t interval", "Wins, ties, losses", "Standard error",
        "Minimum detectable effect",
    ):  # fmt: skip
        assert shown[figure] == NO_VALUE
    assert not re.search(r"None(?![.:])", of.text())
    assert not [element for element in of.elements("svg") if "interval" in element.attributes.get("class", "")]
    assert not [element for element in of.elements("table") if "forest" in element.attributes.get("class", "")]
    assert "Nothing can be concluded: there is no estimate" in of.text()
    assert definitions(of, "provenance")["Resamples"] == NO_VALUE


def test_every_reason_is_told() -> None:
    incomplete, refused = page("incomplete").text(), page("refused").text()
    assert "4 of 16 registered pairs lack a value on at least one side." in incomplete
    assert "4 companies in all is fewer than the rule set asks for" in incomplete
    assert "different units" in refused
    assert "different task contracts" in refused
    assert "No pair has an effect." in refused


def test_failed_predicates_are_ranked_by_both_arms_together() -> None:
    assert table(page("conclusive"), "Predicate") == [
        ["floor-0 cash floor", "31", "12"],
        ["retain-40-accounts objective", "18", "15"],
        ["gameplay_budget gameplay budget", "6", "0"],
        ["why-churn required conclusion", "0", "4"],
    ]
    assert "No registered attempt of either arm fails a predicate." in page("money").text()


def test_pairs_that_changed_most_come_first_and_the_rest_is_counted() -> None:
    made = reported.money()
    tables = {element.attributes.get("aria-labelledby"): element for element in page("money").elements("table")}
    for id_, sign in (("improved", 1), ("worsened", -1)):
        effects = (made.compared.pairs["effect"] * sign).sort(descending=True)
        rows = tables[id_].rows()[1:]
        shown = [int(row[3].split(" ")[0].replace("−", "-").replace(",", "")) for row in rows]
        assert shown == [int(effect) * sign for effect in effects.head(MAX_CHANGED)]
        better = int((effects > 0).sum())
        assert f"The first 10 of {better} such pairs" in page("money").text()
    assert "Treatment minus baseline" in page("conclusive").text()
    assert "Baseline minus treatment" in page("money").text()


def test_pairs_of_an_incomplete_comparison_are_never_summarised() -> None:
    assert "shown one by one and never summarised" in page("incomplete").text()
    assert "never summarised" not in page("conclusive").text()


def test_unregistered_attempts_are_listed_and_said_to_be_cut_off() -> None:
    assert table(page("incomplete"), "Attempt") == [
        ["worldseq:stray-1", "planner-1.9", "pricing / acme / raise-price / s1, repeat 1"],
        ["worldseq:stray-2", NO_VALUE, f"pricing / {NO_VALUE} / {NO_VALUE} / {NO_VALUE}, repeat {NO_VALUE}"],
    ]
    assert "None: every attempt of the campaign is a registered case" in page("conclusive").text()
    made = reported.incomplete()
    many = made.unregistered.head(1).join(pl.DataFrame({"n": range(MAX_LISTED + 1)}), how="cross")
    many = many.with_columns(attempt_id=pl.format("worldseq:stray-{}", "n")).drop("n")
    of = read(report(*made._replace(unregistered=many)))
    assert len(table(of, "Attempt")) == MAX_LISTED
    assert f"The first {MAX_LISTED} of {MAX_LISTED + 1} attempts" in of.text()


def test_provenance_is_whole() -> None:
    made = reported.conclusive()
    row = made.compared.comparison.row(0, named=True)
    assert definitions(page("conclusive"), "provenance") == {
        "Campaign": "cmp-planner",
        "Partition": "cmp-planner-3f1c9a7e",
        "Registration, SHA-256": row["registration_digest"],
        "Input pairs, SHA-256": row["input_digest"],
        "Rule set": "v1",
        "Rule set, SHA-256": row["rules_digest"],
        "Algorithm": row["algorithm"],
        "Resamples": "10,000",
        "Seed": row["seed"],
        "NumPy": row["numpy_version"],
        "Confidence": "0.95",
        "Tolerance": "0.05",
    }


def test_the_unit_of_a_primary_value_is_told_where_it_is_known() -> None:
    made = reported.incomplete()
    assert "unit of the primary metric" in read(report(*made)).text()
    assert "that of the metric (cents)" in read(report(*made, primary_unit="cents")).text()
    assert "25,000 cents" in page("money").text()


@pytest.mark.parametrize("name", reported.HOSTILE)
def test_a_hostile_name_is_text_and_nothing_else(name: str) -> None:
    of = page("hostile")
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
    texts = [
        (element, part)
        for element in of.elements()
        for part in element.parts
        if isinstance(part, str) and " ".join(shown.split()) in " ".join(part.split())
    ]
    assert texts
    for element, part in texts:
        isolated = part.strip().startswith("\u2068") or "\u2068" + shown + "\u2069" in part
        assert element.within("bdi") or (element.tag == "title" and isolated)


def test_nothing_in_a_report_reorders_or_breaks_its_text() -> None:
    html = report(*reported.hostile())
    acting = {c for c in html if unicodedata.category(c) in {"Cc", "Zl", "Zp", "Cs"}}
    assert acting == {"\n"}
    directions = {unicodedata.bidirectional(c) for c in html}
    assert not directions & {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def test_a_name_is_data_and_no_template() -> None:
    text = page("hostile").text()
    assert "{{ 7 * 7 }}{% raw %}" in text


def test_a_campaign_without_a_title_is_called_by_its_id() -> None:
    made = reported.conclusive()
    untitled = reported.registration(reported.cases(1, 1, 1, 1), title=None)
    of = read(report(*made._replace(registration=untitled)))
    (heading,) = of.elements("h1")
    assert heading.text() == "cmp-planner"


@pytest.mark.parametrize("size", [0.0, 0.3, 1e-310, 1e307])
@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (3, 3, 1, 1)])
def test_effects_of_every_size_have_a_report(shape: tuple[int, int, int, int], size: float) -> None:
    of = reported.registration(reported.cases(*shape), metric="reward", tolerance=0.0)
    made = reported.reported(of, reported.pairs(of, lambda case, arm: ("eligible", size * arm * len(case[1]), None)))
    shown = read(report(*made))
    places = [
        value for element in shown.elements("rect", "line") for value in element.attributes.values() if "%" in value
    ]
    assert all(0 <= float(place.removesuffix("%")) <= 100 for place in places)


def test_of_very_many_companies_the_report_says_how_many_it_shows() -> None:
    of = reported.registration(reported.cases(2, 31, 1, 1))
    made = reported.reported(of, reported.pairs(of, lambda _, arm: ("eligible", float(arm), None)))
    assert "The 60 companies with the largest effects of 62" in read(report(*made)).text()
