"""The check that a request rests on: the caller's token as it is now, by the version that a revocation raises
(docs/decisions/034-the-function-checks-the-token.md)."""

from __future__ import annotations

from datetime import datetime

from baton.adapters.dynamodb.access.tokens import Tokens
from baton.adapters.dynamodb.agents.workspace_configs import WorkspaceConfigs
from baton.domain.access.token import Credentials, Token


class TokenChecks(Tokens, WorkspaceConfigs):
    def present_token(self, shown: Credentials, now: datetime) -> Token | None:
        """A copy that was read after the version that holds now is as the token is: a revocation would have raised the
        version. A renewal raises none, so a copy whose time is up is read again."""
        kept, version = self._tokens.get(shown.token_id), None
        if kept is not None and kept[0].admits(shown, now):
            copy, read_under = kept
            version = self.version(copy.workspace)
            if read_under == version:
                return copy
            self._tokens.forget(copy.id)
        present = self.token(shown.token_id)
        if present is not None and present.admits(shown, now):
            self._tokens.keep(present.id, (present, version))
        return present
