"""Numbers pass through `baton-mcp` with each digit, in both directions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from support.http_server import Received, Sent, served
from support.worlds.stdio_program import environment

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "claude-code", "version": "2"}}
WRITTEN = "[12345678901234567.10,1E2,0.10,-0.0,99999999999999999999999999999999999999]"


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_tools_arguments_and_its_answer_keep_each_digit(ending: str) -> None:
    asked: list[bytes] = []

    def answer(request: Received) -> Sent:
        asked.append(request.content)
        result = f'{{"content":[{{"type":"text","text":"é"}}],"structuredContent":{{"n":{WRITTEN}}},"isError":false}}'
        body = f'{{"jsonrpc":"2.0","id":1,"result":{result}}}'.encode()
        return Sent(200, {"Content-Type": "application/json"}.items(), body)

    with served(answer) as url:
        process = subprocess.Popen(
            [sys.executable, "-m", "baton_mcp", "serve"],
            env={**environment(url, "t"), "HOME": os.devnull, "PYTHONIOENCODING": "ascii"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        arguments = f'{{"task_id":"é","output":{WRITTEN},"claim_id":"clm_1"}}'
        call = (
            f'{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"complete","arguments":{arguments}}}}}'
        )
        first: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
        lines = [json.dumps(first), json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}), call]
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write("".join(f"{each}{ending}" for each in lines).encode())
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == 1
            told = process.stdout.readline().decode()
        finally:
            process.kill()
            process.communicate()
    assert f'"n":{WRITTEN}' in told
    assert '"text":"é"' in told
    assert f'"output":{WRITTEN}' in asked[-1].decode().replace(", ", ",").replace(": ", ":")
