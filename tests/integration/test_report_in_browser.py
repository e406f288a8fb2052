"""The report as people open it: in Chromium, on a phone, on a screen and on paper, checked for access by axe-core."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from assets.campaigns.report import report
from tests.assets.campaigns import reported

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install '.[dev]'")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-core: pip install '.[dev]'")

pytestmark = pytest.mark.slow

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PHONE, SCREEN, PAPER = 390, 1280, 688
"""Widths in px; the last is that of A4 between the margins of the report."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        path = next(filter(None, map(shutil.which, BROWSERS)), None)
        try:
            launched = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        except sync_api.Error:
            hint = "no Chromium: install Debian's chromium, or run `playwright install chromium`"
            pytest.skip(hint)
        yield launched
        launched.close()


class Opened(NamedTuple):
    """A page, and what happened while it was opened."""

    page: Any
    requests: list[Any]
    noises: list[str]


def opened(browser: Any, html: str, folder: Path, width: int = SCREEN, **options: Any) -> Opened:
    page = browser.new_page(viewport={"width": width, "height": 900}, **options)
    requests: list[Any] = []
    noises: list[str] = []
    page.on("request", lambda request: [requests.append(request)])
    page.on("console", lambda message: noises.append(message.text))
    page.on("pageerror", lambda error: noises.append(str(error)))
    page.on("dialog", lambda dialog: (noises.append(dialog.message), dialog.dismiss()))
    file = folder / "report.html"
    file.write_text(html, encoding="utf-8")
    page.goto(file.as_uri(), wait_until="load")
    page.wait_for_timeout(50)
    return Opened(page, [request for request in requests if request.url != file.as_uri()], noises)


def overflow(page: Any) -> int:
    """By how many px the page is wider than the window."""
    return int(page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))


def background(page: Any) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "light"), (SCREEN, "dark")])
@pytest.mark.parametrize("name", reported.ALL)
def test_it_opens_quietly_fits_and_is_accessible(
    browser: Any, tmp_path: Path, name: str, width: int, scheme: str
) -> None:
    html = report(*reported.ALL[name]())

    page, requests, noises = opened(browser, html, tmp_path, width, color_scheme=scheme)

    assert (requests, noises, overflow(page)) == ([], [], 0)
    assert (background(page) == "rgb(255, 255, 255)") == (scheme == "light")
    assert [found["id"] for found in axe.Axe().run(page).response["violations"]] == []
    page.close()


def test_axe_and_the_ears_would_notice(browser: Any, tmp_path: Path) -> None:
    html = report(*reported.incomplete())
    unguarded = html.replace('http-equiv="Content-Security-Policy"', "").replace(
        "</main>",
        '<img src="http://127.0.0.1:9/x.png"><script>alert("heard")</script><p style="color:#ddd">pale</p></main>',
    )

    page, requests, noises = opened(browser, unguarded, tmp_path)

    assert [request.url for request in requests] == ["http://127.0.0.1:9/x.png"]
    assert "heard" in noises
    found = {violation["id"] for violation in axe.Axe().run(page).response["violations"]}
    assert {"image-alt", "color-contrast"} <= found
    page.close()


def test_the_policy_stops_what_would_leave_the_page(browser: Any, tmp_path: Path) -> None:
    html = report(*reported.incomplete()).replace(
        "</main>", '<img src="http://127.0.0.1:9/x.png"><script>alert("heard")</script></main>'
    )

    page, requests, noises = opened(browser, html, tmp_path)

    assert [request.failure for request in requests] == ["csp"]
    assert "heard" not in noises
    assert all("Content Security Policy" in noise for noise in noises)
    page.close()


def test_hostile_names_stay_text(browser: Any, tmp_path: Path) -> None:
    page, _, noises = opened(browser, report(*reported.hostile()), tmp_path)

    assert noises == []
    assert page.locator("script, img, iframe, object, embed, form, input, [onload], [onerror], [onclick]").count() == 0
    assert page.locator("h1").inner_text() == reported.HOSTILE[0]
    assert page.locator("bdi", has_text=reported.HOSTILE[1]).count() > 0
    isolations = "[...document.querySelectorAll('bdi')].map(name => getComputedStyle(name).unicodeBidi)"
    assert set(page.evaluate(isolations)) == {"isolate"}
    page.close()


@pytest.mark.parametrize("name", reported.ALL)
def test_it_prints_light_whole_and_on_few_pages(browser: Any, tmp_path: Path, name: str) -> None:
    page, _, _ = opened(browser, report(*reported.ALL[name]()), tmp_path, PAPER, color_scheme="dark")

    page.emulate_media(media="print", color_scheme="dark")

    assert background(page) == "rgb(255, 255, 255)"
    assert overflow(page) == 0
    printed = page.pdf(format="A4", print_background=True)
    assert printed.startswith(b"%PDF")
    assert 1 <= printed.count(b"/Type /Page\n") <= 15
    page.close()


def test_what_is_read_aloud_of_the_pictures(browser: Any, tmp_path: Path) -> None:
    page, _, _ = opened(browser, report(*reported.conclusive()), tmp_path)

    tree = page.locator("main").aria_snapshot()

    assert 'img "36 wins, 62 ties and 10 losses of 108 pairs"' in tree
    assert 'img "Effect and its intervals against the tolerance Effect +0.2407. Bootstrap interval from +0.' in tree
    assert 'img "\u2068hiring\u2069: +0.444; companies from +0.333 to +0.583"' in tree
    assert 'heading "Verdict: pass" [level=2]' in tree
    page.close()
