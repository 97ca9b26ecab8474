"""Filter patterns of CloudWatch Logs for lines of JSON, as far as the template uses them."""

from __future__ import annotations

import json
import re

_TOKEN = re.compile(r'"[^"]*"|\$\.\w+|&&|\|\||!=|=|[(){}]|\S+')
_MEANS = {"&&": " and ", "||": " or ", "=": "==", "{": "(", "}": ")"}


def matches(pattern: str, line: str) -> bool:
    """Does the filter count this line? Raises for a field that the line doesn't have, as AWS says little about it."""
    fields = json.loads(line)
    tokens = (
        repr(fields[token[2:]]) if token.startswith("$.") else _MEANS.get(token, token)
        for token in _TOKEN.findall(pattern)
    )
    return bool(eval("".join(tokens), {"__builtins__": {}}))  # values and operators only
