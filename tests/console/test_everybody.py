"""Every page, for everybody: axe finds nothing in either scheme, and what an agent wrote stays text in its box."""

from __future__ import annotations

from typing import Any

import pytest

from support.console_looks import SCHEMES, nothing_found, pictures
from support.values.tricks import TRICKS, only_text
from support.worlds.console_desk import Desk, approved, at_once, claimed
from support.worlds.console_server import ConsoleServer
from support.worlds.http_agents import ALICE
from support.worlds.world import agent, human, marker_body

# Each page: what its address is, and a text that it shows once it is whole.
PAGES = {
    "start": ("/start", "What is stuck"),
    "approvals": ("/approvals?task={whole}", "Includes unit tests"),
    "approvals-by-direction": ("/approvals?group=direction&priority=P2", "The design has to change"),
    "tasks": ("/tasks", "The design has to change"),
    "search": ("/search?q=design", "The design has to change"),
    "task": ("/tasks/{failed}", "handoff failed"),
    "task-held": ("/tasks/{held}", "smoke tests passed"),
    "stats": ("/stats?since=day", "Leases lost"),
    "stats-week": ("/stats?by=direction", "At work"),
    "decisions": ("/decisions", "by handing it over"),
    "agents": ("/agents", "auto-code"),
    "agent": ("/agents/qa", "Try the release candidate"),
    "reviews": ("/reviews", "the cap of its direction"),
    "review": ("/reviews/{review}", "The scanner finds a leaked key"),
    "alerts": ("/alerts", "A key is in the history"),
    "directions": ("/directions?source=ciso&target=qa", "Judge it"),
    "tokens": ("/tokens", "this one"),
    "routes": ("/routes", "No route yet"),
    "new-handoff": ("/new-handoff", "Values that go with it"),
    "new-agent": ("/new-agent", "Dispatch rank"),
    "agent-change": ("/agents/qa/change", "Change qa"),
    "tools": ("/tools", "handoff_to_qa"),
    "tool": ("/tools/handoff_to_qa", "Nothing is handed over"),
    "new-tool": ("/new-tool", "Once it has a name"),
    "chat": ("/chat", "A new conversation"),
    "conversation": ("/chat/{talk}", "50,000 tokens left"),
    "standing": ("/standing-answers", "Nothing is approved by itself"),
    "settings": ("/settings", "Undo window"),
    "changes": ("/changes", "by human:alice"),
    "notifications": ("/notifications", "Critical alerts"),
    "display": ("/display", "Your time zone"),
    "tracker": ("/tracker", "No tracker is connected"),
    "memory": ("/memory", "One queue for each kind of work"),
    "entry": ("/memory/{entry}", "Because"),
    "missing": ("/nowhere", "There is no such page"),
}
# Each dialog: the page that it is on, the keys that are pressed, and a text in it.
DIALOGS = {
    "keys": ("/approvals", "?", "this list"),
    "find": ("/tasks", "Control+k", "On this page"),
    "defer": ("/approvals?task={whole}", "d", "comes back by itself"),
    "dismiss": ("/approvals?task={whole}", "x", "is told why"),
    "split": ("/approvals?task={whole}", "s", "Parts, one a line"),
    "take-back": ("/tasks/{held}", "l", "Take this task back"),
    "cancel": ("/tasks/{held}", "c", "Cancel"),
    "snooze": ("/alerts", "j s", "Until"),
    "switch-off": ("/agents/qa", "x", "Switch qa off"),
    "release": ("/reviews/{review}", "r", "Release"),
    "route": ("/routes", "c", "route"),
    "times": ("/tasks/{held}", "z", "Yours"),
}


def address(desk: Desk, path: str) -> str:
    tasks = {"whole": desk.whole, "held": desk.held, "failed": desk.failed, "review": desk.review, "entry": desk.entry}
    ids = {name: each["id"] for name, each in tasks.items()} | {"talk": desk.talk}
    return f"{desk.served.url}#{path.format(**ids)}"


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(signed_in: Any, desk: Desk, name: str, scheme: str) -> None:
    path, text = PAGES[name]
    signed_in.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    signed_in.goto(address(desk, path))
    signed_in.get_by_text(text).first.wait_for()
    nothing_found(signed_in)
    if scheme == "light" and name != "tracker":  # one that is connected says more
        pictures(signed_in, name)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing_in_any_dialog(signed_in: Any, desk: Desk, scheme: str) -> None:
    signed_in.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    for name, (path, key, text) in DIALOGS.items():
        signed_in.goto("about:blank")
        signed_in.goto(address(desk, path))
        signed_in.locator("main h1").wait_for()
        signed_in.wait_for_function("() => !document.querySelector('main .loading')")
        if "task=" in path or "{review}" in path:
            signed_in.locator(".acts button:enabled").first.wait_for()
        for each in key.split():
            signed_in.keyboard.press(each)
        box = signed_in.locator(".when" if name == "times" else "dialog")
        box.get_by_text(text).first.wait_for()
        nothing_found(signed_in)


def test_axe_finds_nothing_where_one_signs_in_or_decides(page: Any, served: ConsoleServer, desk: Desk) -> None:
    page.goto(served.url)
    page.get_by_label("Your token").wait_for()
    nothing_found(page)


def test_keys_are_listed_and_the_page_is_reached_without_a_mouse(signed_in: Any, expect: Any) -> None:
    signed_in.keyboard.press("?")
    keys = signed_in.get_by_role("dialog")
    for key in ("approve", "defer", "dismiss", "go to Tasks"):
        expect(keys.get_by_text(key, exact=True)).to_be_visible()
    signed_in.keyboard.press("Escape")
    signed_in.keyboard.press("g")
    signed_in.keyboard.press("t")
    signed_in.get_by_role("link", name="The design has to change").wait_for()
    signed_in.keyboard.press("j")
    signed_in.keyboard.press("Enter")
    expect(signed_in.get_by_role("heading", name="Trail", exact=True)).to_be_visible()
    assert "#/tasks/task_" in signed_in.url


def test_an_id_is_copied_by_a_click_or_chosen_where_that_is_not_allowed(
    signed_in: Any, desk: Desk, expect: Any
) -> None:
    signed_in.context.grant_permissions(["clipboard-read", "clipboard-write"])
    signed_in.goto(address(desk, "/tasks/{held}"))
    copy = signed_in.get_by_title(f"Copy {desk.held['id']}")
    copy.click()
    expect(signed_in.get_by_text("copied")).to_be_visible()
    assert signed_in.evaluate("navigator.clipboard.readText()") == desk.held["id"]
    expect(copy).to_have_text(desk.held["id"])
    signed_in.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    copy.click()
    expect(signed_in.get_by_text("press Ctrl and C")).to_be_visible()
    assert signed_in.evaluate("getSelection().toString()").strip() == desk.held["id"]


def test_on_a_phone_the_page_one_is_on_is_in_sight_among_the_pages(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.set_viewport_size({"width": 360, "height": 740})
    for path, name in {"/tokens": "Tokens", "/start": "Start", "/memory": "Memory"}.items():
        signed_in.goto(address(desk, path))
        here = signed_in.get_by_role("navigation").get_by_role("link", name=name)
        expect(here).to_have_attribute("aria-current", "page")
        expect(here).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("width", [1360, 390])
def test_what_an_agent_wrote_is_text_in_its_box(signed_in: Any, desk: Desk, width: int) -> None:
    served = desk.served
    with at_once(served):
        task = approved(
            served, "architect", "ciso", TRICKS[0], summary="\n".join(TRICKS), context={"state": {"x": TRICKS}}
        )
        claim = claimed(served, "ciso", task["id"], "worker-1")
    for trick in TRICKS:
        assert served.agents.say(claim, "notes", text=trick).status == 201
    failure = {"type": "error", "description": "\n".join(TRICKS), "blockers": [{"type": "t", "description": TRICKS[1]}]}
    labels = {f"{number}{trick[:30]}": trick[:60] for number, trick in enumerate(TRICKS[:4])}
    for said in (TRICKS[0], TRICKS[1]):  # two that were approved, for what is compared with them
        with at_once(served):
            approved(
                served, "auto-code", "ciso", said, context={"variables": {"x": said, **dict.fromkeys(TRICKS[:3], 1)}}
            )
    waiting = served.agents.hand_off(
        "auto-code",
        "ciso",
        target={"agent": "ciso", "reason": TRICKS[3]},
        summary="\n".join(TRICKS),
        metadata={"labels": labels},
        context={"variables": {"x": TRICKS[3], **dict.fromkeys(TRICKS[:3], 1_000_000)}},
    )
    for page in ("/approvals", "/tasks"):
        view = {"title": TRICKS[0][:60], "page": page, "query": {"q": "x"}, "scope": "workspace"}
        assert served.gateway.put(human(name="mallory"), f"/views/trick{page.replace('/', '-')}", view).status == 201
    assert served.agents.say(claim, "fail", failure=failure).status == 200
    told = {"kind": "odd", "severity": "info", "message": "\n".join(TRICKS)}
    assert served.gateway.post(agent("ciso"), "/alerts", told | {"task_id": task["id"]}).status == 201
    named = {"name": TRICKS[0], "description": TRICKS[0], "system_prompt": "\n".join(TRICKS)}
    assert served.gateway.put(ALICE, "/agents/ciso", named).status == 200
    known = {"entry_type": "warning", "summary": TRICKS[3], "detail": "\n".join(TRICKS), "tags": [TRICKS[0][:50]]}
    entry = served.gateway.post(agent("qa"), "/blackboard", known).json
    stopped = marker_body(source_agent="ciso", target_agent="qa", escalation_reason="\n".join(TRICKS))
    assert served.gateway.post(agent("ciso"), "/handoff-markers", stopped).status == 200
    asks = {"agent": "architect", "message": "\n".join(TRICKS)}
    talk = served.gateway.post(ALICE, "/conversations", asks).json["conversation_id"]
    argument = {"name": "finding", "description": TRICKS[3], "enum": TRICKS[:4]}
    config = {"target_agent": "ciso", "handoff_instructions": TRICKS[3], "context_variables": [argument]}
    tool = {"description": "\n".join(TRICKS), "config": config}
    assert served.gateway.put(ALICE, "/tools/handoff_to_ciso", tool).status == 201
    longest = "v" * 63
    assert served.gateway.put(ALICE, f"/agents/{longest}", {"name": "The longest"}).status == 201
    approved(served, "qa", longest, "W" * 300)
    served.agents.hand_off("auto-code", longest)
    guardrails = {"forbidden_patterns": [trick[:200] for trick in TRICKS if trick.isprintable()]}
    assert served.gateway.put(human(name="mallory"), "/workspace/settings", {"guardrails": guardrails}).status == 200
    subject = {"kind": "service", "subject": "w" * 63}
    assert served.gateway.post(human(name="m" * 63), "/tokens", subject).status == 201
    served.publish()
    signed_in.set_viewport_size({"width": width, "height": 860})
    for path, text in {
        f"/tasks/{task['id']}": "handoff failed",
        f"/approvals?task={waiting['task']['id']}": "202E",
        "/approvals?group=direction": "evil.example",
        "/tasks": "evil.example",
        "/agents/ciso/change": "202E",
        "/new-handoff": "Values that go with it",
        "/alerts": "202E",
        "/decisions": "by handing it over",
        "/stats?by=direction": "At work",
        "/start": "evil.example",
        "/agents/ciso": "202E",
        "/chat": "evil.example",
        "/tools/handoff_to_ciso": "202E",
        f"/chat/{talk}": "202E",
        "/memory": "202E",
        f"/memory/{entry['id']}": "evil.example",
        f"/reviews/{desk.review['id']}": "202E",
        "/directions?source=auto-code&target=ciso": "evil.example",
        "/settings": "Forbidden patterns",
        "/tokens": "w" * 63,
        f"/agents/{longest}": "All its tasks",
    }.items():
        signed_in.goto(f"{served.url}#{path}")
        signed_in.get_by_text(text).first.wait_for()
        only_text(signed_in)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\nof two lines", "plain\ttext\nof two lines"),
        ("file\u202egnp.exe", "file⟨U+202E⟩gnp.exe"),
        ("a\u200bb\ufeffc\u2066d", "a⟨U+200B⟩b⟨U+FEFF⟩c⟨U+2066⟩d"),
        ("\x1b[31mred\x00", "⟨U+001B⟩[31mred⟨U+0000⟩"),
        ("tag\U000e0041", "tag⟨U+E0041⟩"),
        ("שלום, العربية, हिन्दी", "שלום, العربية, हिन्दी"),
        ("👩\u200d👧 ❤\ufe0f", "👩\u200d👧 ❤\ufe0f"),
        ("a\u200db", "a⟨U+200D⟩b"),
        ("a\ufe0fb", "a⟨U+FE0F⟩b"),
    ],
)
def test_hidden_characters_become_marks_and_scripts_stay(
    page: Any, served: ConsoleServer, text: str, shown: str
) -> None:
    page.goto(served.url)
    page.get_by_label("Your token").wait_for()
    tree = page.locator("script[src]").get_attribute("src").removesuffix("/app.js")
    assert (
        page.evaluate("async ([tree, text]) => (await import(`${tree}/core/said.js`)).plain(text)", [tree, text])
        == shown
    )
