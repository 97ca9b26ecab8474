"""What Lambda gives a handler beside the event."""

from __future__ import annotations

from dataclasses import dataclass, field

from aws_lambda_powertools.utilities.typing import LambdaContext


@dataclass
class FakeContext(LambdaContext):
    """The context that Lambda gives to a handler. ``left``: the milliseconds that each call answers, the last one from
    then on."""

    left: list[int] = field(default_factory=lambda: [60_000])
    _function_name: str = "baton-test"
    _memory_limit_in_mb: int = 1_024
    _invoked_function_arn: str = "arn:aws:lambda:us-east-1:123456789012:function:baton-test"
    _aws_request_id: str = "lambda-1"

    def get_remaining_time_in_millis(self) -> int:  # type: ignore[override] # static there, as nothing counts it down
        return self.left.pop(0) if len(self.left) > 1 else self.left[0]
