"""What may not enter a handoff: secrets, forbidden words, too much of it (docs/spec/protocol.md §4)."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baton.adapters.dynamodb import items
from baton.domain.access.token import spell
from baton.domain.errors import GuardrailRefused, InvalidInput
from baton.domain.guardrails.guardrails import MAX_MASKS, Guardrails, checked, from_public
from baton.domain.guardrails.secret_shapes import SHAPES
from baton.domain.guardrails.wildcards import compiled
from baton.domain.ids import sortable_id
from baton.domain.settings.settings import Settings
from rest.answers import problem
from support.clock import NOON
from support.faults.cpu import MOST_SECONDS, least_seconds
from support.faults.soak import scaled
from support.worlds.world import WORKSPACE

REFUSING, MASKING, OFF = Guardrails(), Guardrails(secrets="mask"), Guardrails(secrets="off")
# Put together here, so that no scanner takes this file for a leak.
LONG = "Zk3Q9vT1xW7bR5mN2cJ8" * 4
AWS_SECRET = "wJalr/UtnFEMI+K7MDENG/bPxRfiCYzEXAMPLE01"
PEM = f"-----BEGIN {'RSA '}PRIVATE KEY-----\n{LONG[:64]}\n{LONG[:64]}\n-----END RSA PRIVATE KEY-----"
JWT = ".".join(("eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", LONG[:43]))

# Name, what it is found in, and the secret itself.
SECRETS = [
    ("aws_access_key", "AKIA" + "Z7QX2" * 3 + "A"),
    ("aws_access_key", "ASIA" + "Z7QX2" * 3 + "A"),
    ("github_token", "gh" + "p_" + LONG[:36]),
    ("github_token", "gh" + "s_" + LONG[:40]),
    ("github_token", "github" + "_pat_" + LONG[:22] + "_" + LONG[:59]),
    ("gitlab_token", "gl" + "pat-" + LONG[:20]),
    ("slack_token", "xox" + "b-1234567890-" + LONG[:24]),
    ("slack_token", "xapp" + "-1-A0B1C2D3-" + LONG[:20]),
    ("anthropic_key", "sk-" + "ant-api03-" + LONG[:80]),
    ("openai_key", "sk-" + "proj-" + LONG[:48]),
    ("openai_key", "sk-" + LONG[:48]),
    ("google_key", "AIza" + LONG[:35]),
    ("google_key", "GOCSPX-" + LONG[:28]),
    ("stripe_key", "sk" + "_live_" + LONG[:24]),
    ("stripe_key", "rk" + "_test_" + LONG[:24]),
    ("stripe_key", "whsec" + "_" + LONG[:32]),
    ("notion_token", "ntn" + "_" + LONG[:46]),
    ("notion_token", "secret" + "_" + LONG[:43]),
    ("npm_token", "npm" + "_" + LONG[:36]),
    ("pypi_token", "pypi-" + "AgEIcHlwaS5vcmc" + LONG[:60]),
    ("jwt", JWT),
    ("private_key", PEM),
    ("baton_token", spell("k3j2h1g0", "0123456789abcdef" * 4)),
    ("claim_id", sortable_id("clm", NOON, b"0123456789")),
]
# Text with a secret that what stands next to it gives away; the secret comes second.
TELLING = [
    ("aws_secret_key", f"aws_secret_access_key = {AWS_SECRET}", AWS_SECRET),
    ("aws_secret_key", f'{{"SecretAccessKey": "{AWS_SECRET}"}}', AWS_SECRET),
    ("aws_secret_key", json.dumps(json.dumps({"secretKey": AWS_SECRET})), AWS_SECRET),
    ("authorization_header", f"curl -H 'Authorization: Bearer {LONG[:20]}'", LONG[:20]),
    ("authorization_header", "authorization=Basic dXNlcjpodW50ZXIy", "dXNlcjpodW50ZXIy"),
    ("bearer_token", f"send it as bearer {LONG[:24]}", LONG[:24]),
    ("url_password", "postgres://app:hunter2@db.internal:5432/app", "hunter2"),
    ("url_password", "see redis://:hunter2@cache", "hunter2"),
    ("slack_webhook", f"https://hooks.slack.com/services/T0001/B0001/{LONG[:24]}", f"T0001/B0001/{LONG[:24]}"),
]
HELD = [(name, f"it is {secret}, they say", secret) for name, secret in SECRETS] + TELLING

ORDINARY = [
    "secret_key_rotation and secret_access_key are names of settings",
    "The bearer authentication of RFC 6750 is described in docs/auth/bearer.md",
    "Authorization: Bearer <your-token>",
    "Authorization: Bearer $BATON_TOKEN and Bearer ${TOKEN_2}",
    "postgres://${DB_USER}:${DB_PASSWORD}@host, https://<user>:<password>@host, amqp://app:****@host",
    "https://example.com:8443/a?b=c@d and ssh://git@github.com:22/acme/repo and git@github.com:acme/repo.git",
    "http://localhost:3000, mail me@example.com",
    "mailto:alice@example.com, https://example.com/@alice",
    "task-management, risk-assessment-of-2026, sk-learn, npm_config_registry, github_pat_rotation_policy_document",
    "glrt-generalized-likelihood-ratio-test, xoxb-tokens-are-refused",
    "look for files that hold -----BEGIN PRIVATE KEY----- in their first line",
    "-----BEGIN CERTIFICATE-----\nMIIB" + "A" * 60,
    "aws_secret_access_key = <40 characters>",
    f"secret_key: {hashlib.sha1(b'x').hexdigest()}",
    "task_01jd0123456789abcdefghjkmn ho_01jd0123456789abcdefghjkmn chk_01jd0123456789abcdefghjkmn clm_…",
    "baton_<id>_<secret>",
    "/home/alice/src/very/long/path/to/a/module/named/secret_shapes.py",
    "C:\\Users\\alice\\secrets\\readme.md",
    "sha256:" + hashlib.sha256(b"x").hexdigest(),
    "eyJhbGciOiJub25lIn0",
    "Stripe's sk_live_ and GitHub's ghp_ prefixes",
    "🔑 — größe, 秘密, clé",
]


def refusal(content: dict[str, Any], rules: Guardrails = REFUSING, at: str = "context") -> GuardrailRefused:
    with pytest.raises(GuardrailRefused) as refused:
        checked(content, rules, at)
    return refused.value


# Secrets


@pytest.mark.parametrize(("name", "text", "secret"), HELD)
def test_what_looks_like_a_secret_is_refused_by_rule_and_field_and_told_nowhere(
    name: str, text: str, secret: str
) -> None:
    error = refusal({"state": {"key": [1, 2, 3, {"name": text}]}})
    assert error.rule == f"secrets.{name}"
    assert error.fields["rule"] == error.rule
    assert error.fields["errors"] == [
        {"field": "context.state.key[3].name", "message": f"is refused by the workspace's guardrail {error.rule}"}
    ]
    body = json.dumps(problem(error, "req-1").body)
    assert problem(error, "req-1").status == 422
    for said in (str(error), repr(error), repr(vars(error)), body):
        for piece in (secret, secret[:12], secret[-8:]):
            assert piece not in said


@pytest.mark.parametrize(("name", "text", "secret"), HELD)
def test_it_is_masked_where_the_workspace_says_so_and_nothing_else_is(name: str, text: str, secret: str) -> None:
    content = {"a": {"b": ["before", text]}, "c": 1}
    masked = checked(content, MASKING, "context")
    assert masked == {"a": {"b": ["before", text.replace(secret, f"[masked: {name}]")]}, "c": 1}
    assert content["a"] == {"b": ["before", text]}
    assert checked(masked, MASKING, "context") is masked
    assert checked(masked, REFUSING, "context") is masked


@pytest.mark.parametrize(("name", "text", "secret"), HELD)
def test_secrets_pass_where_a_human_switched_that_off(name: str, text: str, secret: str) -> None:
    content = {"a": [text], text[:60]: 1}
    assert checked(content, OFF, "") is content


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_texts_pass(text: str) -> None:
    content = {"text": text, "list": [text], text[:60]: {"deep": text}}
    assert checked(content, REFUSING, "context") is content


def test_ids_hashes_and_encoded_files_pass() -> None:
    numbers = random.Random(4)
    for _ in range(200):
        raw = numbers.randbytes(3_000)
        texts = [
            str(uuid.UUID(bytes=raw[:16], version=4)),
            raw[:20].hex(),
            raw[:64].hex(),
            base64.b64encode(raw).decode(),
            base64.urlsafe_b64encode(raw).decode(),
            base64.b32encode(raw[:100]).decode(),
            sortable_id("task", NOON, raw[:10]),
        ]
        content = {"secret": texts, "token": texts[0], "authorization": texts[1], "aws_secret_access_key": texts[1]}
        assert checked(content, REFUSING, "context") is content


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [
        ("aws_secret_access_key", AWS_SECRET, "aws_secret_key"),
        ("SecretAccessKey", AWS_SECRET, "aws_secret_key"),
        ("Authorization", f"Bearer {LONG[:16]}", "authorization_header"),
        ("authorization", ["Basic dXNlcjpodW50ZXIy"], "authorization_header"),
    ],
)
def test_a_name_tells_what_its_value_is(key: str, value: Any, rule: str) -> None:
    error = refusal({"headers": {key: value}})
    assert error.rule == f"secrets.{rule}"
    assert error.field.startswith(f"context.headers.{key}")
    checked({"headers": {"other": value}}, REFUSING, "context")


def test_a_key_with_a_secret_is_named_by_its_position() -> None:
    secret = SECRETS[2][1]
    error = refusal({"state": {"fine": 1, f"x {secret}": {"deep": 2}}})
    assert (error.rule, error.field) == ("secrets.github_token", "context.state[key 1]")
    assert secret[:12] not in repr(vars(error))


@pytest.mark.parametrize("rules", [MASKING, OFF])
def test_no_path_leads_through_a_secret_even_where_it_may_pass(rules: Guardrails) -> None:
    secret = SECRETS[2][1]
    limited = rules.changed({"max_items": 100})
    error = refusal({"state": {secret: {"deep": [0] * 101}}}, limited)
    assert (error.rule, error.field) == ("max_items", "context.state[key 0].deep")
    assert secret not in repr(vars(error))


@pytest.mark.parametrize("key", ["", "x" * 65, "a\nb", "\u202e"])
def test_a_key_that_makes_no_name_is_named_by_its_position(key: str) -> None:
    assert refusal({"ok": 1, key: SECRETS[0][1]}, at="").field == "[key 1]"


def test_masked_keys_keep_their_values_apart() -> None:
    first, second = "gh" + "p_" + LONG[:36], "gh" + "p_" + LONG[1:37]
    content = {"tokens": {first: 1, "[masked: github_token]": 2, second: 3}}
    masked = checked(content, MASKING, "context")["tokens"]
    assert sorted(masked.values()) == [1, 2, 3]
    assert all(name.startswith("[masked: github_token]") for name in masked)


def test_several_secrets_of_one_text_are_masked_each_and_overlapping_ones_together() -> None:
    text = f"{SECRETS[0][1]} and {SECRETS[2][1]}; Authorization: Bearer {JWT} ."
    masked = checked({"t": text}, MASKING, "")["t"]
    assert masked.startswith("[masked: aws_access_key] and [masked: github_token]; Authorization: Bearer [masked: ")
    assert masked.endswith("] .")
    assert LONG[:10] not in masked


def test_a_content_of_nothing_but_secrets_is_refused_rather_than_masked() -> None:
    url = "://a:b@c "
    assert checked({"t": url * MAX_MASKS}, MASKING, "")["t"].count("[masked: url_password]") == MAX_MASKS
    assert refusal({"t": [url * MAX_MASKS, url]}, MASKING).rule == "secrets.url_password"


def test_a_private_key_is_masked_to_its_end_or_where_there_is_none_to_the_texts() -> None:
    assert checked({"t": f"a {PEM} b"}, MASKING, "")["t"] == "a [masked: private_key] b"
    assert checked({"t": f"a {PEM[:90]} b"}, MASKING, "")["t"] == "a [masked: private_key]"


def test_every_shape_is_tried_here() -> None:
    assert {shape.name for shape in SHAPES} == {name for name, _, _ in HELD}


# Anything with a secret in it


HERE = "\0"


def contents() -> st.SearchStrategy[Any]:
    """JSON with ``HERE`` somewhere in it, in a value or a key."""
    words = st.text(st.characters(categories=["L", "N", "Zs"], include_characters="_-./:\n"), max_size=20)
    leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | words
    values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3))
    texts = st.tuples(words, words).map(lambda ends: f"{ends[0]} {HERE} {ends[1]}")
    here = st.recursive(
        texts | st.dictionaries(texts, values, min_size=1, max_size=1),
        lambda inner: (
            st.tuples(st.lists(values, max_size=2), inner).map(lambda each: [*each[0], each[1]])
            | st.tuples(st.dictionaries(words, values, max_size=2), words, inner).map(
                lambda each: {**each[0], each[1]: each[2]}
            )
        ),
        max_leaves=4,
    )
    return st.dictionaries(words, values, max_size=2).flatmap(
        lambda rest: here.map(lambda hidden: {**rest, "state": hidden})
    )


CONTENTS = contents()


def with_secret(content: Any, secret: str) -> Any:
    spelt, place = (json.dumps(each)[1:-1] for each in (secret, HERE))
    return json.loads(json.dumps(content).replace(place, spelt))


@pytest.mark.parametrize(("name", "secret"), [(name, secret) for name, secret in SECRETS if name != "private_key"])
@settings(max_examples=scaled(100, 25))
@given(made=CONTENTS)
def test_wherever_it_is_it_is_found_and_never_told(name: str, secret: str, made: Any) -> None:
    content = with_secret(made, secret)
    before = json.dumps(content)
    error = refusal(content)
    assert error.rule.startswith("secrets.")
    assert secret[:16] not in repr(vars(error)) + str(error) + json.dumps(problem(error, "r").body)
    masked = checked(content, MASKING, "context")
    assert secret not in json.dumps(masked)
    assert f"[masked: {name}]" in json.dumps(masked)
    assert json.dumps(content) == before
    assert checked(masked, REFUSING, "context") is masked


# Forbidden words


@pytest.mark.parametrize(
    ("pattern", "text", "is_met"),
    [
        ("project falcon", "about Project FALCON today", True),
        ("project falcon", "project  falcon", False),
        ("project*falcon", "Project\n\ncodenamed falcon", True),
        ("project*falcon", "falcon, a project", False),
        ("*falcon*", "falcon", True),
        ("f?lcon", "FALCON", True),
        ("f?lcon", "flcon", False),
        ("f??lcon", "faalcon", True),
        ("acme-?*-key", "acme-1-key", True),
        ("acme-?*-key", "acme--key", False),
        ("a*b*c", "a c b a b c", True),
        ("a*b*c", "c b a", False),
        ("?x", "x", False),
        ("?x", "1x", True),
        ("x?", "x", False),
        ("straße", "STRASSE", True),
        ("(a+)+$", "aaaaaaaaaaaaaaa", False),
        ("[a-z]", "b", False),
        ("a**b", "a-b", True),
    ],
)
def test_a_pattern_is_looked_for_anywhere_whatever_the_case(pattern: str, text: str, *, is_met: bool) -> None:
    rules = Guardrails().changed({"forbidden_patterns": ("nothing like it", pattern)})
    if not is_met:
        checked({"a": text}, rules, "context")
        return
    error = refusal({"a": [text]}, rules)
    assert (error.rule, error.field) == ("forbidden_patterns[1]", "context.a[0]")
    assert pattern not in repr(vars(error))


def test_a_key_with_a_forbidden_word_is_named_by_its_position() -> None:
    error = refusal({"ok": {"falcon-plans": 1}}, Guardrails(forbidden_patterns=("falcon",)), at="results")
    assert (error.rule, error.field) == ("forbidden_patterns[0]", "results.ok[key 0]")


def test_a_forbidden_word_is_found_although_it_would_be_masked() -> None:
    rules = Guardrails(secrets="mask", forbidden_patterns=("akia*",))
    assert refusal({"a": SECRETS[0][1]}, rules).rule == "forbidden_patterns[0]"


def met_slowly(pattern: str, text: str) -> bool:
    """The rule as it is written down, by trying everything."""
    if not pattern:
        return True
    if pattern[0] == "*":
        return any(met_slowly(pattern[1:], text[skipped:]) for skipped in range(len(text) + 1))
    return bool(text) and pattern[0] in {"?", text[0]} and met_slowly(pattern[1:], text[1:])


@settings(max_examples=scaled(300, 6))
@given(st.lists(st.text("ab*?", min_size=1, max_size=6), min_size=1, max_size=4), st.text("abc", max_size=10))
def test_many_patterns_at_once_say_what_each_says_alone(patterns: list[str], text: str) -> None:
    wanted = tuple(pattern for pattern in patterns if set(pattern) - {"*", "?"})
    met = {number for number, pattern in enumerate(wanted) if met_slowly(f"*{pattern}*", text)}
    found = compiled(wanted).first_in(text)
    assert found in met if met else found is None


class Counted:
    """A text that counts how many of its characters were asked for."""

    def __init__(self, text: str) -> None:
        self.text, self.steps = text, 0

    def __iter__(self) -> Iterator[str]:
        for character in self.text:
            self.steps += 1
            yield character


@pytest.mark.parametrize(
    "pattern", [("a*" * 100)[:199] + "b", "a?" * 99 + "b", "*".join("a" * 99) + "b", "?*" * 99 + "ab"]
)
@pytest.mark.parametrize("length", [1_000, 10_000])
def test_a_text_is_passed_once_whatever_the_patterns(pattern: str, length: int) -> None:
    patterns = tuple(pattern[:-1] + character for character in "bcdefghij" for _ in range(5))
    text = Counted("a" * length)
    assert compiled(patterns).automaton.first_in(text) is None
    assert text.steps == length


# Sizes


@pytest.mark.parametrize("name", ["max_text_characters", "max_items"])
def test_sizes_are_taken_at_their_limit_and_refused_one_past(name: str) -> None:
    def of_length(length: int) -> list[Any]:
        if name == "max_text_characters":
            return ["x" * length]
        return [[0] * length, {str(n): n for n in range(length)}]

    rules = Guardrails().changed({name: 1_000})
    for each in of_length(1_000):
        checked({"a": each}, rules, "context")
    for each in of_length(1_001):
        error = refusal({"a": each}, rules)
        assert (error.rule, error.field) == (name, "context.a")


def test_a_long_key_is_named_by_its_position_and_the_whole_content_has_a_name() -> None:
    rules = Guardrails().changed({"max_text_characters": 1_000, "max_items": 100})
    assert refusal({"x" * 1_001: 1}, rules).field == "context[key 0]"
    assert refusal({str(n): n for n in range(101)}, rules, at="").field == "body"


def test_by_default_whatever_fits_into_a_body_passes() -> None:
    content = {"log": "x" * 200_000, "vector": [0.5] * 4_096, "files": [f"src/{n}.py" for n in range(2_000)]}
    assert checked(content, Guardrails(), "") is content


@pytest.mark.parametrize("hint", sorted({hint for shape in SHAPES for hint in shape.hints}))
def test_no_text_makes_looking_for_secrets_slow(hint: str) -> None:
    """Quadratic time would be a quarter of a minute here, and under ``make soak`` a minute, for each of the texts that
    together take a fraction of a second."""
    length = scaled(65_536, 2)
    spelt = {"eyj": "eyJ", "private key": "-----BEGIN PRIVATE KEY-----", "pypi-age": "pypi-AgE", "aiza": "AIza"}
    word = spelt.get(hint, hint.upper() if hint in {"akia", "asia", "abia", "acca"} else hint)
    started = time.process_time()
    for junk in ("", "a", "a1", "-", "a" * 30 + "-", " : ", "1.", "\\" * 7):
        text = (word + junk) * (length // len(word + junk))
        for each in (text, word + "a" * length, (word + "a" * (length // 4) + ".") * 4):
            try:
                checked({"a": each}, REFUSING, "")
            except GuardrailRefused:
                checked({"a": each}, OFF, "")
    assert time.process_time() - started < 10


# Settings


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"secrets": "warn"}, "guardrails.secrets"),
        ({"max_items": 99}, "guardrails.max_items"),
        ({"max_items": 100_001}, "guardrails.max_items"),
        ({"max_text_characters": 999}, "guardrails.max_text_characters"),
        ({"max_text_characters": 262_145}, "guardrails.max_text_characters"),
        ({"forbidden_patterns": ("x",) * 51}, "guardrails.forbidden_patterns"),
        ({"forbidden_patterns": ("x", "y" * 201)}, "guardrails.forbidden_patterns[1]"),
        ({"forbidden_patterns": ("",)}, "guardrails.forbidden_patterns[0]"),
        ({"forbidden_patterns": ("a\nb",)}, "guardrails.forbidden_patterns[0]"),
        ({"forbidden_patterns": ("*",)}, "guardrails.forbidden_patterns[0]"),
        ({"forbidden_patterns": ("?* ?",)}, "guardrails.forbidden_patterns[0]"),
    ],
)
def test_settings_out_of_bounds_are_refused_by_name(values: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Settings().changed(guardrails=values)
    assert refused.value.field == field


def test_settings_are_taken_at_their_bounds() -> None:
    most = {"max_items": 100_000, "max_text_characters": 262_144, "forbidden_patterns": ("x" * 200,) * 50}
    assert Settings().changed(guardrails=most).guardrails.public() == {
        "secrets": "refuse",
        **most,
        "forbidden_patterns": ["x" * 200] * 50,
    }
    least: dict[str, Any] = {"max_items": 100, "max_text_characters": 1_000, "forbidden_patterns": ()}
    assert Settings().changed(guardrails=least).guardrails == Guardrails(**least)


def test_a_change_of_one_part_keeps_the_others() -> None:
    first = Settings().changed(guardrails={"forbidden_patterns": ("falcon",), "secrets": "mask"})
    second = first.changed(guardrails={"max_items": 500}, escalation_cap=3)
    assert second.guardrails == Guardrails(secrets="mask", forbidden_patterns=("falcon",), max_items=500)
    assert second.changed(escalation_cap=4).guardrails == second.guardrails


def test_they_are_kept_as_they_were_set() -> None:
    kept = Settings().changed(guardrails={"forbidden_patterns": ("falcon", "größe*"), "secrets": "off"}, version=1)
    item = {name: value for name, value in items.settings_item(WORKSPACE, kept).items() if value is not None}
    assert items.settings_from(item) == kept
    older = {name: value for name, value in item.items() if name != "guardrails"}
    assert items.settings_from(older).guardrails == Guardrails()
    assert from_public({"secrets": "mask", "of a later version": 1}) == Guardrails(secrets="mask")


# What comes to light only once something beside it is masked


def test_secrets_that_stand_side_by_side_are_all_masked() -> None:
    token = "baton_" + "k" * 26 + "_" + "0123456789abcdef" * 4
    key = "AKIA" + "Z7QX2" * 3 + "A"
    shown = checked({"a": token * 3, "b": token + key}, MASKING, "")
    assert shown["a"] == "[masked: baton_token]" * 3
    assert "0123456789" not in json.dumps(shown)
    assert "Z7QX2" not in json.dumps(shown)


HINTS = "akia secret ghp_ github_pat_ glpat- xoxb- sk-ant- sk- aiza whsec_ ntn_ npm_ baton_ clm_ eyj bearer :// "
CHAINS = {"a chain": "baton_" + "k" * 26 + "_" + "0123456789abcdef" * 4, "apart": "AKIA" + "Z7QX2" * 3 + "A "}


@pytest.mark.parametrize("name", CHAINS)
def test_masking_takes_time_in_proportion_to_the_text(name: str) -> None:
    """Each mask used to bring a look through the whole text again: 25 s for what one late result may hold."""
    text = CHAINS[name] * MAX_MASKS
    text += HINTS * ((260_000 - len(text)) // len(HINTS))
    took, shown = least_seconds(lambda: checked({"a": text}, MASKING, ""))
    assert took < MOST_SECONDS
    assert shown["a"].count("[masked: ") == MAX_MASKS


def test_ten_thousand_telling_names_cost_little() -> None:
    content = {f"secret{number:06d}": "12345678" for number in range(10_000)}
    took, shown = least_seconds(lambda: checked(content, MASKING, ""))
    assert shown is content
    assert took < MOST_SECONDS
