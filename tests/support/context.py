"""What Lambda gives a handler beside the event."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class FakeContext:
    """``left``: the milliseconds that each asking is told, the last one from then on."""

    left: list[int] = field(default_factory=lambda: [60_000])
    function_name: str = "baton-test"
    memory_limit_in_mb: int = 1_024
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:123456789012:function:baton-test"
    aws_request_id: str = "lambda-1"

    def get_remaining_time_in_millis(self) -> int:
        return self.left.pop(0) if len(self.left) > 1 else self.left[0]
