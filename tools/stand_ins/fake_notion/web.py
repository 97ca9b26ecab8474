"""The web page of the running stand-in: what is in it, and a form to change each page's status."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from urllib.parse import parse_qs

from tools.stand_ins.fake_notion.errors import Reply
from tools.stand_ins.fake_notion.fake import FakeNotion
from tools.stand_ins.fake_notion.model import Database, Page
from tools.stand_ins.fake_notion.texts import dashed, plain

REFRESH_SECONDS = 5
STYLE = """
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem; margin-bottom: 0 } h2 { font-size: 1.1rem; margin-top: 2rem }
.note { color: GrayText; margin-top: .25rem } .scroll { overflow-x: auto }
table { border-collapse: collapse; width: 100% } form { display: flex; gap: .35rem }
th, td { text-align: left; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid #8884; vertical-align: top }
.trashed { opacity: .5 } .trashed a { text-decoration: line-through }
td.id, td.when { white-space: nowrap } pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit }
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
NOTE = "A local stand-in for Notion: nothing here comes from notion.so or goes there."


def respond(fake: FakeNotion, method: str, parts: Sequence[str], body: bytes) -> Reply:
    """`parts` is the path split at its slashes, without its empty start."""
    match [method, *parts]:
        case ["GET", ""]:
            return _html(200, _overview(fake))
        case ["GET", "ui", "pages", page_id] if page := fake.pages.get(dashed(page_id) or ""):
            return _html(200, _one_page(page))
        case ["POST", "ui", "pages", page_id, "status"] if page := fake.pages.get(dashed(page_id) or ""):
            return _set_status(fake, page, body)
    return _html(404, _document("Not found", f"<h1>Not found</h1><p class=note>{NOTE}</p>"))


def _set_status(fake: FakeNotion, page: Page, body: bytes) -> Reply:
    form = parse_qs(body.decode(errors="replace"))
    status = form.get("status", [""])[0]
    prop = page.database.status_property if page.database else None
    if prop is None or prop.option(status) is None:
        return _html(400, _document("No such status", "<h1>This page has no such status</h1>"))
    fake.edit(page.id, properties={prop.name: status})
    back = f"/ui/pages/{page.id}" if form.get("back") == ["page"] else "/"
    return Reply(303, {"Location": back}, b"")


def _overview(fake: FakeNotion) -> str:
    tables = "".join(_table(database) for database in list(fake.databases.values()))
    return _document("Tasks", f"<h1>Tasks</h1><p class=note>{NOTE}</p>{tables}")


def _table(database: Database) -> str:
    rows = "".join(_row(page) for page in reversed(list(database.pages.values())))
    heads = "".join(
        f"<th>{name}</th>" for name in ("Title", "Status", "Priority", "Due", "Task ID", "Comments", "Last edited")
    )
    empty = "" if rows else "<p>No pages yet.</p>"
    return (
        f"<h2>{escape(database.title)}</h2><p class=note>Database {database.id}</p>"
        f"<div class=scroll><table><tr>{heads}</tr>{rows}</table></div>{empty}"
    )


def _row(page: Page) -> str:
    cells = [
        f'<td><a href="/ui/pages/{page.id}">{_text(page.title) or "Untitled"}</a></td>',
        f"<td>{_status(page, 'list')}</td>",
        f"<td>{_text(page.priority)}</td>",
        f"<td>{_text(page.due)}</td>",
        f"<td class=id>{_text(page.task_id)}</td>",
        f"<td>{len(page.comments)}</td>",
        f"<td class=when>{page.last_edited_time:%Y-%m-%d %H:%M:%S} UTC</td>",
    ]
    return f"<tr{' class=trashed' if page.in_trash else ''}>{''.join(cells)}</tr>"


def _status(page: Page, back: str) -> str:
    prop = page.database.status_property if page.database else None
    if prop is None or page.in_trash:
        return "In the trash" if page.in_trash else ""
    options = "".join(
        f"<option{' selected' if option.name == page.status else ''}>{_text(option.name)}</option>"
        for option in prop.options
    )
    blank = "" if page.status else "<option selected disabled></option>"
    return (
        f'<form method=post action="/ui/pages/{page.id}/status"><input type=hidden name=back value={back}>'
        f'<select name=status aria-label="Status">{blank}{options}</select><button>Set</button></form>'
    )


def _one_page(page: Page) -> str:
    rows = [
        f"<tr><th>{_text(prop.name)}</th><td>{_value(prop.type, page.values.get(prop.name))}</td></tr>"
        for prop in (page.database.properties.values() if page.database else ())
    ]
    comments = "".join(f"<li><pre>{_text(text)}</pre></li>" for text in page.comment_texts) or "<li>None</li>"
    return _document(
        page.title or "Untitled",
        f"<p><a href=/>All tasks</a></p><h1>{_text(page.title) or 'Untitled'}</h1><p class=note>{NOTE}</p>"
        f"{_status(page, 'page')}<h2>Properties</h2><table>{''.join(rows)}</table>"
        f"<h2>Text</h2><pre>{_text(page.body) or 'None'}</pre><h2>Comments</h2><ul>{comments}</ul>",
    )


def _value(kind: str, value: object) -> str:
    if kind in ("title", "rich_text") and isinstance(value, list):
        return _text(plain(value))
    if isinstance(value, dict):
        return _text(value.get("start"))
    return _text(", ".join(value) if isinstance(value, list) else value)


def _text(value: object) -> str:
    return "" if value is None else escape(str(value))


def _document(title: str, content: str) -> str:
    return (
        f'<!doctype html><html lang=en><head><meta charset=utf-8><meta http-equiv=refresh content="{REFRESH_SECONDS}">'
        f'<meta name=viewport content="width=device-width"><title>{_text(title)} — local stand-in for Notion</title>'
        f"<style>{STYLE}</style></head><body>{content}</body></html>"
    )


def _html(status: int, text: str) -> Reply:
    return Reply(status, HEADERS, text.encode(errors="replace"))
