"""The port ``Models``: a deployment's model providers, and the choice among them for an agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from baton.domain import errors
from baton.ports import runs

_HOW_TO_HAVE = {"openai_compatible": "set BATON_MODEL_URL to where it answers"}


class ModelChoice:
    """Chooses models. ``default`` is ``<provider>[:<id>]``, for agents whose profile names none. ``makers`` has this
    deployment's providers; each is made at its first use."""

    def __init__(self, default: str, makers: Mapping[str, Callable[[], runs.Model]]) -> None:
        self._default, self._makers = default, makers
        self._made: dict[str, runs.Model] = {}

    def of(self, name: str) -> tuple[str, str, runs.Model]:
        """Returns provider, model id and model. A name without an id gets the default's id if the provider is the
        default's."""
        usual, _, usual_id = self._default.partition(":")
        provider, _, model_id = (name or self._default).partition(":")
        if not model_id and provider == usual:
            model_id = usual_id
        return provider, model_id, self._model(provider)

    def _model(self, provider: str) -> runs.Model:
        if provider not in self._makers:
            how = _HOW_TO_HAVE.get(provider, f"BATON_MODEL and agents may name {', '.join(sorted(self._makers))}")
            raise errors.ModelRefuses(f"This deployment has no model provider {provider!r}: {how}.")
        if provider not in self._made:
            self._made[provider] = self._makers[provider]()
        return self._made[provider]


_models: type[runs.Models] = ModelChoice
