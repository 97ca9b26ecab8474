"""Amazon Bedrock's Converse API; the port ``Model`` has its shape."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any, Protocol

from botocore import exceptions
from botocore.parsers import ResponseParserError

from baton.adapters.models.tool_calls import tool_use
from baton.adapters.retry_after import retry_after
from baton.domain import errors
from baton.domain.canonical_json import canonical_json
from baton.domain.numbers import approximate
from baton.domain.runs.reply import clean
from baton.domain.runs.transcript import Block, Usage, count_in
from baton.ports import runs
from baton.ports.system import Clock

THROTTLES = frozenset({"ThrottlingException", "TooManyRequestsException"})
AWAY = frozenset(
    {
        "ServiceUnavailableException",
        "ModelTimeoutException",
        "InternalServerException",
        "ModelNotReadyException",
    }
)
_TOO_LONG = re.compile(
    r"(input|prompt) is too long|maximum context length|context (window|limit|length)"
    r"|too many (input )?tokens|exceeds? the (maximum|max)( allowed)? (number of )?(input )?tokens",
    re.IGNORECASE,
)
_ODD_IN_METADATA = re.compile(r"[^a-zA-Z0-9\s:_@$#=/+,.-]")
_MAX_METADATA = 256
# Bedrock refuses blank text.
_NOTHING = "(empty)"


class BedrockClient(Protocol):
    def converse(self, **request: Any) -> Any: ...


class BedrockModel:
    """Calls Bedrock. ``client_for`` returns boto3's ``bedrock-runtime`` with a read timeout of that many seconds and a
    single attempt: Baton itself retries. Converse sends nothing before it has finished, so the timeout is the whole
    call's."""

    def __init__(self, client_for: Callable[[float], BedrockClient], clock: Clock) -> None:
        self._client_for, self._clock = client_for, clock

    def converse(self, request: runs.ModelRequest) -> runs.ModelReply:
        if not request.model:
            raise errors.ModelRefuses("Bedrock needs a model's id: set BATON_MODEL=bedrock:<id>.")
        try:
            answer = self._client_for(request.seconds).converse(**_call(request))
        except exceptions.ClientError as exc:
            if _is_too_long(exc):
                return runs.ModelReply(blocks=(), stop_reason=runs.StopReason.CONTEXT_WINDOW_EXCEEDED)
            raise self._trouble(exc) from exc
        except (exceptions.HTTPClientError, exceptions.ConnectionError, ResponseParserError) as exc:
            raise errors.ModelAway("Bedrock didn't answer.") from exc
        except (exceptions.NoCredentialsError, exceptions.PartialCredentialsError, exceptions.NoRegionError) as exc:
            raise errors.ModelRefuses("There are no AWS credentials, or no region, to ask Bedrock with.") from exc
        except RecursionError:  # only a model's output nests this deep
            return runs.ModelReply(blocks=(), stop_reason=runs.StopReason.MALFORMED_MODEL_OUTPUT)
        except exceptions.BotoCoreError as exc:
            raise errors.ModelRefuses("Bedrock can't be asked that: boto3 can't write the request down.") from exc
        if "stopReason" not in answer:  # a truncated answer, which botocore accepts
            raise errors.ModelAway("Bedrock broke off its answer.")
        return _reply(answer)

    def _trouble(self, exc: exceptions.ClientError) -> errors.ModelTrouble:
        code, status = _code(exc), _http(exc).get("HTTPStatusCode", 0)
        pause = retry_after(_http(exc).get("HTTPHeaders", {}).get("retry-after", ""), self._clock.now())
        if code in AWAY or status >= HTTPStatus.INTERNAL_SERVER_ERROR:  # a model that isn't ready comes with a 429
            return errors.ModelAway(f"Bedrock is away ({code}).", retry_after=pause)
        if code in THROTTLES or status == HTTPStatus.TOO_MANY_REQUESTS:
            return errors.ModelThrottled(f"Bedrock asks to come later ({code}).", retry_after=pause)
        # The model failed on this request; by the service's documentation a retry may succeed.
        return errors.ModelRefuses(
            f"Bedrock refuses ({code}).{_what_to_do(code)}", retryable=code == "ModelErrorException"
        )


def _call(request: runs.ModelRequest) -> dict[str, Any]:
    call: dict[str, Any] = {
        "modelId": request.model,
        "messages": [
            {"role": turn["role"], "content": list(map(_request_block, turn["content"]))} for turn in request.messages
        ],
        "inferenceConfig": {"maxTokens": request.max_tokens},
        "requestMetadata": {
            "task_id": _metadata(request.task_id),
            "agent": _metadata(request.agent),
            "workspace": _metadata(request.workspace),
        },
    }
    if request.system.strip():
        call["system"] = [{"text": request.system}]
    if request.tools:
        call["toolConfig"] = {"tools": [{"toolSpec": _spec(tool)} for tool in request.tools]}
    return call


def _spec(tool: dict[str, Any]) -> dict[str, Any]:
    described = {"description": tool["description"]} if tool["description"] else {}
    return {"name": tool["name"], **described, "inputSchema": {"json": approximate(tool["input_schema"])}}


def _metadata(text: str) -> str:
    return _ODD_IN_METADATA.sub("_", text)[:_MAX_METADATA]


def _request_block(block: Block) -> Block:
    if "toolUse" in block:
        use = block["toolUse"]
        return {"toolUse": {"toolUseId": use["toolUseId"], "name": use["name"], "input": approximate(use["input"])}}
    if "toolResult" in block:
        answer = block["toolResult"]
        return {"toolResult": {**answer, "content": [_result(each) for each in answer["content"]]}}
    sealed = block.get("reasoningContent", {}).get("redactedContent")
    return block if sealed is None else {"reasoningContent": {"redactedContent": base64.b64decode(sealed)}}


def _result(content: Block) -> Block:
    """Returns the content as Bedrock takes it: JSON only for objects, no blank text."""
    if "json" in content:
        value = content["json"]
        return {"json": approximate(value)} if isinstance(value, dict) else {"text": canonical_json(value)}
    return content if content["text"].strip() else {"text": _NOTHING}


def _reply(answer: dict[str, Any]) -> runs.ModelReply:
    usage = answer.get("usage") or {}
    counted = Usage(input_tokens=count_in(usage.get("inputTokens")), output_tokens=count_in(usage.get("outputTokens")))
    content = ((answer.get("output") or {}).get("message") or {}).get("content") or []
    try:
        reason = runs.StopReason(answer["stopReason"])
    except ValueError:
        reason = runs.StopReason.MALFORMED_MODEL_OUTPUT
    return runs.ModelReply(blocks=tuple(_stored_blocks(content)), stop_reason=reason, usage=counted)


def _stored_blocks(blocks: list[Block]) -> Iterator[Block]:
    """Yields the blocks that Baton uses. Reasoning is kept unchanged with its signature; redacted reasoning becomes
    text, as everything stored does."""
    for number, block in enumerate(blocks, start=1):
        if block.get("text", "").strip():
            yield {"text": clean(block["text"])}
        elif "toolUse" in block:
            use = block["toolUse"]
            yield tool_use(use.get("toolUseId") or f"call_{number}", use.get("name"), use.get("input"))
        elif "reasoningContent" in block:
            yield _stored_reasoning(block["reasoningContent"])


def _stored_reasoning(reasoning: Block) -> Block:
    sealed = reasoning.get("redactedContent")
    kept = reasoning if sealed is None else {"redactedContent": base64.b64encode(sealed).decode()}
    return {"reasoningContent": kept}


def _is_too_long(exc: exceptions.ClientError) -> bool:
    message = exc.response.get("Error", {}).get("Message", "")
    return _code(exc) == "ValidationException" and _TOO_LONG.search(message) is not None


def _code(exc: exceptions.ClientError) -> str:
    return str(exc.response.get("Error", {}).get("Code", ""))


def _http(exc: exceptions.ClientError) -> dict[str, Any]:
    return dict(exc.response.get("ResponseMetadata", {}))


def _what_to_do(code: str) -> str:
    if code == "AccessDeniedException":
        return " Give process-task the right to it (the parameter BedrockModels), and the account access to the model."
    if code == "ResourceNotFoundException":
        return " Look at the model's id and the region."
    return ""


_model: type[runs.Model] = BedrockModel
