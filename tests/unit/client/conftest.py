from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.scripted_api import ScriptedApi, scripted_api


@pytest.fixture
def scripted() -> Iterator[ScriptedApi]:
    with scripted_api() as api:
        yield api
