"""A model that follows a script and marks every reply as scripted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from baton.adapters.models.script import MESSAGE, Script, Scripted, ScriptedTurn, turn_of
from baton.domain import errors
from baton.domain.canonical_json import canonical_json
from baton.domain.runs import history
from baton.domain.runs.transcript import Block, Usage
from baton.ports import runs
from baton.ports.system import Clock


class ScriptedModel:
    """Replies by the script. Without ``clock``, nothing takes any time. It counts words instead of tokens."""

    def __init__(self, script: Script, clock: Clock | None = None) -> None:
        self._script, self._clock = script, clock

    def converse(self, request: runs.ModelRequest) -> runs.ModelReply:
        answer = self._script.answer(request.agent, request.attempt)
        if answer.turns:
            turn = turn_of(answer, request.turn)
            self._pass_time(answer.takes_seconds + turn.takes_seconds, request)
            return _reply(request, tuple(_blocks(turn, _message(request))), turn.stop_reason)
        self._pass_time(answer.takes_seconds, request)
        if answer.fail is not None:
            raise errors.ModelRefuses(
                answer.fail["description"], type=answer.fail["type"], retryable=answer.retryable, scripted=True
            )
        return _output(request, answer)

    def _pass_time(self, seconds: float, request: runs.ModelRequest) -> None:
        """Sleeps as long as the script says, at most the time that is left."""
        if self._clock is None or not seconds:
            return
        self._clock.sleep(min(seconds, max(request.seconds, 0)))
        if seconds > request.seconds:
            raise errors.ModelAway("The script takes longer than there is time.")


def _output(request: runs.ModelRequest, answer: Scripted) -> runs.ModelReply:
    text = answer.output if isinstance(answer.output, str) else canonical_json(answer.output)
    output = {"scripted": True, "agent": request.agent, "answer": answer.output}
    return _reply(request, ({"text": text},), runs.StopReason.END_TURN, output)


def _reply(
    request: runs.ModelRequest, blocks: tuple[Block, ...], reason: runs.StopReason, output: Any = None
) -> runs.ModelReply:
    prompted = sum(_words(turn["content"]) for turn in request.messages)
    usage = Usage(input_tokens=_words(request.system) + prompted, output_tokens=_words(list(blocks)))
    return runs.ModelReply(blocks=blocks, stop_reason=reason, usage=usage, output=output, scripted=True)


def _blocks(turn: ScriptedTurn, message: str) -> Iterator[Block]:
    if turn.thinking:
        yield {"reasoningContent": {"reasoningText": {"text": turn.thinking.replace(MESSAGE, message)}}}
    if text := turn.text.replace(MESSAGE, message):
        yield {"text": text}
    for number, (name, arguments) in enumerate(turn.tools, start=1):
        filled = _filled(arguments, message)
        yield {"toolUse": {"toolUseId": f"call_{number}", "name": name, "input": filled}}


def _filled(value: Any, message: str) -> Any:
    if isinstance(value, str):
        return value.replace(MESSAGE, message)
    if isinstance(value, dict):
        return {name: _filled(each, message) for name, each in value.items()}
    return [_filled(each, message) for each in value] if isinstance(value, list) else value


def _message(request: runs.ModelRequest) -> str:
    """Returns the user's last message. A tool's result isn't the user's, even where it is shown as text."""
    for turn in reversed(request.messages):
        if turn["role"] == "user":
            for block in reversed(turn["content"]):
                if "text" in block and not block["text"].startswith(history.RESULT):
                    return str(block["text"])
    return ""


def _words(value: Any) -> int:
    """Counts the words of every text in the value."""
    if isinstance(value, str):
        return len(value.split())
    if isinstance(value, dict):
        return sum(map(_words, value.values()))
    return sum(map(_words, value)) if isinstance(value, list) else 0


_model: type[runs.Model] = ScriptedModel
