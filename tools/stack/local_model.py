"""What the local stack's agents think with: the model that BATON_MODEL, BATON_MODEL_URL and BATON_MODEL_KEY name, and
the script that BATON_SCRIPT does.

    python -m tools.stack.local_model SCRIPT    is that a script? (`make deploy` asks before it builds one in)
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from botocore.exceptions import ClientError

from baton.adapters.models.script import script_at
from baton.config import ConfigError, model_key, model_url
from baton.domain.errors import ModelRefuses
from tools.stack import deployment
from tools.stack.background import StackError
from tools.stack.engine import Access

SECRET = f"{deployment.STACK_NAME}/model-key"
# What layers/baton/Makefile calls it.
BUILT_IN = "script.yaml"
_NAME = re.compile(r"[^\s\"'\\]*")


@dataclass(frozen=True)
class LocalModel:
    name: str
    url: str
    key: str = field(repr=False)
    script: Path | None = None

    def parameters(self, access: Access) -> dict[str, str]:
        """Those of the template. The key itself is none of them: it goes into the engine's Secrets Manager, as it would
        in the cloud."""
        return {
            "Model": self.name,
            "ModelUrl": self.url,
            "ModelKeySecret": _kept(self.key, access) if self.key else "",
            "Script": BUILT_IN if self.script else "",
        }


def of_environment() -> LocalModel:
    """Raises StackError for a variable that makes no sense."""
    name = os.environ.get("BATON_MODEL", "")
    if not _NAME.fullmatch(name):
        raise StackError("BATON_MODEL must be like openai_compatible:<id>, without spaces or quotes")
    try:
        return LocalModel(
            name, model_url(os.environ), model_key(os.environ), script_of(os.environ.get("BATON_SCRIPT", ""))
        )
    except ConfigError as error:
        raise StackError(str(error)) from error


def script_of(path: str) -> Path | None:
    """Where it is, None for none. Raises StackError, with what is wrong: it would be told by every agent otherwise."""
    if not path:
        return None
    try:
        script_at(Path(path))
    except ModelRefuses as refusal:
        raise StackError(f"{refusal.message} ({path})") from refusal
    return Path(path).resolve()


def _kept(key: str, access: Access) -> str:
    """The secret's ARN."""
    secrets = deployment.client("secretsmanager", access)
    try:
        arn = secrets.put_secret_value(SecretId=SECRET, SecretString=key)["ARN"]
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceNotFoundException":
            raise
        arn = secrets.create_secret(Name=SECRET, SecretString=key)["ARN"]
    return str(arn)


if __name__ == "__main__":
    try:
        script_of(sys.argv[1])
    except StackError as wrong:
        sys.exit(f"error: {wrong}")
