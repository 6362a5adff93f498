"""Pages in a real browser, without a network: what it complains of, what it asks for, and how wide a page is."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed here")
_QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--allow-file-access-from-files"),
    *("--enable-logging=stderr", "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=3000"),
)
_FRAME = """<!doctype html><body style="margin:0"><iframe id="page" src="{name}" width="{width}" height="800"
style="border:0"></iframe><script>window.onload = () => {{
  const inner = document.getElementById("page").contentDocument;
  const style = inner.defaultView.getComputedStyle(inner.body);
  const ids = [...inner.querySelectorAll("[id]")].map(each => each.id);
  const said = JSON.stringify({{
    wide: inner.documentElement.scrollWidth, title: inner.title, paper: style.backgroundColor, ink: style.color,
    headings: [...inner.querySelectorAll("h1,h2,h3,h4")].map(each => Number(each.tagName[1])),
    text: inner.body.innerText,
    asked: inner.defaultView.performance.getEntriesByType("resource").map(each => each.name),
    doubles: ids.length - new Set(ids).size,
    focus: [...inner.querySelectorAll("a[href],[tabindex]")].filter(each => each.tabIndex >= 0).length,
  }});
  document.body.innerHTML = '<pre id="said"></pre>';
  document.getElementById("said").textContent = said;
}}</script></body>"""


@dataclass(frozen=True)
class Seen:
    """What a page is in the browser: lines on the console, addresses it asked for, and facts of the document."""

    console: list[str]
    asked: list[str]
    facts: dict


def seen(page: Path, width: int, *, dark: bool = False) -> Seen:
    """Show a page in a frame of so many pixels."""
    assert CHROMIUM is not None
    frame = page.with_suffix(f".frame{width}.html")
    frame.write_text(_FRAME.format(name=page.name, width=width))
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    command = [CHROMIUM, *_QUIET, *scheme, f"--user-data-dir={page.parent / 'browser'}"]
    done = subprocess.run(
        [*command, "--dump-dom", frame.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    said = re.search(r'<pre id="said">(.*?)</pre>', done.stdout, re.DOTALL)
    assert said, done.stdout + done.stderr
    facts = json.loads(html.unescape(said[1]))
    asked = [address for address in facts["asked"] if not address.startswith("data:")]
    return Seen([line for line in done.stderr.splitlines() if "CONSOLE" in line], asked, facts)
