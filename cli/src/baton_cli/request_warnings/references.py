"""References in a text: addresses, accounts, files, and the syntax of commands and queries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from baton_cli.request_warnings.findings import Finding
from baton_cli.request_warnings.places import Text

_URL = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]+:[/\\]{2,}([^\s/?#\\\"'<>]*)[^\s\"'<>]*")
_LOCAL, _LABEL = r"0-9A-Za-z_.+\u0080-\U0010ffff-", r"[0-9A-Za-z\u0080-\U0010ffff-]+"
_MAIL = re.compile(rf"(?<![{_LOCAL}])[{_LOCAL}]+@{_LABEL}(?:\.{_LABEL})*")
_IP = re.compile(r"(?<![0-9.])[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![0-9.])")
_HOST = re.compile(r"(?:[0-9A-Za-z-]+\.)+[A-Za-z]{2,}(?::[0-9]+)?(?=/|$)")
# Hosts without a scheme: before a path, behind `//` or `\\`, with `www.` or a usual ending.
_BARE = re.compile(
    rf"(?<![{_LOCAL}@/\\:])(?://((?:{_LABEL}\.)+[A-Za-z]{{2,}})|\\\\({_LABEL}(?:\.{_LABEL})*)\\|"
    rf"(www\.(?:{_LABEL}\.)+[A-Za-z]{{2,}}|(?:{_LABEL}\.)+"
    r"(?:[A-Za-z]{2,}(?=(?::[0-9]+)?/)|(?:com|net|org)(?![0-9A-Za-z_-]|\.[0-9A-Za-z]))))"
)
_HOST_AND_PATH = re.compile(r"//[^\s]+|(?:[0-9A-Za-z-]+\.)+[A-Za-z]{2,}(?::[0-9]+)?(?:/[^\s]*)?")
# Endings of files, which make a name no host.
_FILE = re.compile(
    r"\.(?:py|js|ts|tsx|jsx|md|txt|json|ya?ml|toml|ini|cfg|conf|log|csv|pdf|html?|css|xml|sql|sh|go|rs|java|rb|php|"
    r"lock|docx?|xlsx?|png|jpe?g|gif|svg|webp|zip|gz|tar|env|pem|key)$",
    re.IGNORECASE,
)
_IBAN = re.compile(
    r"(?<![0-9A-Za-z])(?:[A-Z]{2}[0-9]{2}(?:[^0-9A-Za-z\n]?[0-9A-Z]{4}){2,7}(?:[^0-9A-Za-z\n]?[0-9A-Z]{1,3})?|"
    r"[A-Za-z]{2}[0-9]{2}(?:[^0-9A-Za-z\n]?[0-9]{4}){2,7}(?:[^0-9A-Za-z\n]?[0-9]{1,3})?)(?![0-9A-Za-z])"
)
# Hexadecimal, Bech32, and Base58 with letters of both cases and a digit.
_WALLET = re.compile(
    r"(?<![0-9A-Za-z])(?:0x[0-9A-Fa-f]{40}|bc1[0-9a-z]{20,60}|[a-z]{2,10}1[02-9ac-hj-np-z]{38,100}|"
    r"(?=[1-9A-Z]*[a-z])(?=[1-9a-z]*[A-Z])(?=[A-Za-z]*[1-9])[1-9A-HJ-NP-Za-km-z]{25,110})(?![0-9A-Za-z])"
)
_NAME = "0-9A-Za-z_.@+-"
_ENCODED = re.compile("%(?:25)*(2[b-f]|[3-6][0-9a-f]|7[0-9a-e])", re.IGNORECASE)
_FILE_URL = re.compile(r"(?<![0-9A-Za-z])file:[/\\]+", re.IGNORECASE)
_BACKSLASHES = re.compile(rf"(?<![{_NAME}:\\])(?:\\[{_NAME}]{{2,}}){{2,}}")
_PATH = re.compile(
    r"(?<![0-9A-Za-z_.+/~\\-])(?:"
    rf"(?:~[0-9A-Za-z_-]*|\.{{1,2}})?(?:/[{_NAME}]*[A-Za-z_.][{_NAME}]*)+/?|"
    r"[A-Za-z]:\\[^\s\"']+|"
    r"(?:[0-9A-Za-z_.+-]+/)+[0-9A-Za-z_@+-]*\.[0-9A-Za-z]{1,8}(?![0-9A-Za-z_/]))"
)
_SENSITIVE = re.compile(
    r"/etc/(?:shadow|passwd|sudoers|ssh)|(?:^|/)\.(?:ssh|aws|kube|gnupg|git|netrc|npmrc|pypirc|env)"
    rf"(?![{_NAME}])|(?:^|/)id_(?:rsa|ed25519|ecdsa)|(?:^|[^0-9A-Za-z_./])/(?:root|proc|boot)(?![{_NAME}])"
)
_WORD_END, _WORD_EDGE = re.compile(r"[\s\"'<>]+"), re.compile(r"^[(\[{`]+|(?<![.,;:!?)\]}`])[.,;:!?)\]}`]+$")
# Syntax of shells, SQL and templates, by name.
_SYNTAX = {
    "SQL condition": r"\b(?:or|and)\s+\(?['\"]?([0-9A-Za-z_]+)['\"]?\s*=\s*['\"]?\1\b|['\"]\s*(?:or|and|union)\b",
    "SQL statement": r"\bunion\s+(?:all\s+)?select\b|\bdrop\s+(?:table|database)\b|"
    r";\s*(?:drop|delete|insert|update|alter|truncate|grant|create|exec)\b",
    "SQL comment": r"['\");]\s*--|--\s*$|/\*[^*]{0,200}\*/",
    "shell substitution": r"\$\(|\$\{|\$[A-Z_]{2,}",
    "shell chain": r"&&|\|\||;\s*(?:rm|curl|wget|sh|bash|nc|python3?|sudo|cat|chmod|ev(?:al))\b",
    "shell pipe": r"\|\s*(?:sudo\s+)?(?:sh|bash|zsh|python3?|perl|nc|tee|xargs)\b",
    "shell removal": r"\brm\s+-[a-z]*[rf]|\bchmod\s+[0-7]{3,4}\b|\bsudo\s",
    "parent folder": r"(?:^|[/\\])\.\.(?:[/\\]|$)",
    "template or script": r"\{\{|\{%|<script|javascript:|data:text",
}
_EDGE = "(?:(?<![0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<=[0-9A-Za-z_])(?![0-9A-Za-z_]))"  # JavaScript's word boundary
_COMMANDS = {name: re.compile(each.replace(r"\b", _EDGE), re.IGNORECASE) for name, each in _SYNTAX.items()}
Found = Iterator[tuple[str, str]]  # what is compared, and what is shown


def _decoded(text: str) -> str:
    """Returns the text with percent escapes and URLs of files decoded, and backslashes between names as slashes."""
    plain = _FILE_URL.sub("/", _ENCODED.sub(lambda found: chr(int(found[1], 16)), text))
    return _BACKSLASHES.sub(lambda found: found[0].replace("\\", "/"), plain)


def addresses(text: str) -> Found:
    """Yields hosts, as ``host`` or ``name@host``, in lower case."""
    text = _decoded(text)
    for found in _URL.finditer(text):
        host = found[1].rpartition("@")[2].lower()
        if host:
            yield host, found[0] if "@" in found[1] else host
    rest = _URL.sub(" ", text)
    for bare in _BARE.finditer(rest):
        host = (bare[1] or bare[2] or bare[3]).lower()
        if not _FILE.search(host):
            yield host, host
    for mail in _MAIL.finditer(rest):
        yield mail[0].lower(), mail[0]
    for ip in _IP.finditer(rest):
        yield ip[0], ip[0]
    whole = text.strip()
    if _HOST_AND_PATH.fullmatch(whole) and not _FILE.search(whole):
        host = whole.removeprefix("//").partition("/")[0].rpartition("@")[2].lower()
        yield host, host


def accounts(text: str) -> Found:
    for found in (*_IBAN.finditer(text), *_WALLET.finditer(text)):
        yield re.sub("[^0-9A-Za-z]", "", found[0]), found[0]


def paths(text: str) -> Found:
    """Yields files as their folder, and as they are written. Addresses aren't files. A file of secrets is found in any
    word."""
    text = _decoded(text)
    secrets: list[str] = []
    for found in _PATH.finditer(_URL.sub(" ", text)):
        path = found[0].replace("\\", "/").rstrip(".")
        if _HOST.match(path) and not path.startswith((".", "/", "~")) and not _FILE.search(path):
            continue
        if _SENSITIVE.search(path):
            secrets.append(found[0])
        yield folder_of(path), found[0]
    for each in _WORD_END.split(text):
        word = _WORD_EDGE.sub("", each)
        if "/" in word and _SENSITIVE.search(word) and not any(path in word for path in secrets):
            yield folder_of(word), word


def folder_of(path: str) -> str:
    """Returns the folder of a file, without ``.`` and ``..``; empty for the working folder."""
    parts: list[str] = []
    for part in path.split("/")[:-1]:
        if part == ".." and parts and parts[-1] not in {"..", ""}:
            parts.pop()
        elif part not in {".", ""} or (part == "" and not parts):
            parts.append(part)
    return "/".join(parts) or ("/" if path.startswith("/") else "")


def commands(text: str) -> Found:
    for name, each in _COMMANDS.items():
        if found := each.search(text):
            yield name, f"{name}: {found[0].strip()}"


def new_references(now: Sequence[Text], earlier: Sequence[Text]) -> Iterator[Finding]:
    """Yields addresses, accounts, folders and commands that no earlier request has."""
    yield from _new("address", addresses, now, earlier)
    yield from _new("account", accounts, now, earlier)
    yield from _new("command", commands, now, earlier)
    yield from _new_files(now, earlier)


def _new_files(now: Sequence[Text], earlier: Sequence[Text]) -> Iterator[Finding]:
    mine = [(each.at, folder, path) for each in now for folder, path in paths(each.text)]
    known = {path: folder for each in earlier for folder, path in paths(each.text)} if mine else {}
    folders = sorted(set(known.values()))
    for at, folder, path in mine:
        is_inside = any(_is_inside(folder, one) for one in folders)
        if path not in known and (not is_inside or _SENSITIVE.search(path)):
            yield Finding("path", at, path, ", ".join(folders[:3]))


def _is_inside(folder: str, known: str) -> bool:
    if known == "":
        return not folder.startswith(("/", "~", ".."))
    return folder == known or (known != "/" and folder.startswith(f"{known}/"))


def sensitive_paths(now: Sequence[Text]) -> Iterator[Finding]:
    for each in now:
        for _, path in paths(each.text):
            if _SENSITIVE.search(path):
                yield Finding("path", each.at, path)


def _new(kind: str, find: Callable[[str], Found], now: Iterable[Text], earlier: Iterable[Text]) -> Iterator[Finding]:
    mine = [(text.at, each, shown) for text in now for each, shown in find(text.text)]
    known = {each for text in earlier for each, _ in find(text.text)} if mine else set[str]()
    for at, each, shown in mine:
        if each not in known:
            yield Finding(kind, at, shown)


def references(now: Sequence[Text]) -> Iterator[Finding]:
    """Yields each address, account, folder and command of a request that can't be compared; rare folders first."""
    for kind, find in (("address", addresses), ("account", accounts), ("command", commands)):
        yield from _new(kind, find, now, ())
    folders: dict[str, list[Finding]] = {}
    for each in now:
        for folder, path in paths(each.text):
            folders.setdefault(folder, []).append(Finding("path", each.at, path))
    for found in sorted(folders.values(), key=len):
        yield found[0]
