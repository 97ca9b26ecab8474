"""What schemathesis is told: the document, who calls, what there is, how many cases, and what counts as a fault.

``FUZZ_CASES``: per operation, and as many sequences, drawn by ``FUZZ_SEED``. Without it, a few that are the same in
every run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Any

import hypothesis
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.core.transport import Response
from schemathesis.generation.feedback import NO_FEEDBACK
from schemathesis.generation.meta import TestPhase
from schemathesis.pytest._test_builder import build_operation_test

from baton.domain.access.principal import PrincipalKind
from fuzz.cases import Callers, Case, is_fair, tamed
from fuzz.checks import CHECKS
from fuzz.door import Application, Door
from fuzz.known import bindings, dictionaries
from fuzz.links import linked_document
from fuzz.premises import Premises
from support.faults.soak import IS_WHOLE, TENTH, thins
from support.worlds.operations import OPERATIONS, Operation

IS_LONG = "FUZZ_CASES" in os.environ
CASES = int(os.environ.get("FUZZ_CASES", "2"))
SEQUENCES = CASES if IS_LONG else 10 if IS_WHOLE else 5
STEPS = 8
SEED = int(os.environ.get("FUZZ_SEED", "1"))
# Of every tenth operation, in the order of the document, every second bound is tried. ``make fuzz`` and ``make soak``
# try all of each.
BOUNDS_APART = 1 if IS_LONG or IS_WHOLE else 2
KNOWN_APART = 1 if IS_LONG or IS_WHOLE else 3
WITHOUT_BOUNDS = [] if IS_LONG or IS_WHOLE else [str(each) for number, each in enumerate(OPERATIONS) if number % TENTH]
# 422: it may mean nothing here. The check `is_read_as_documented` sees to the rest.
FIT_FOR_THE_ALLOWED = ["2xx", "401", "403", "404", "409", "422", "503"]
FIT_FOR_THE_FORBIDDEN = ["400", "401", "403", "404", "405", "409", "413", "415", "422", "503"]


class Campaign:
    """``altered``: puts something between schemathesis and the gateway. ``without_bounds``: operations whose bounds
    aren't tried. ``shrinks``: what fails is made as small as it can be, for somebody who reads it."""

    def __init__(
        self, altered: Any = lambda door: door, without_bounds: Sequence[str] = (), *, shrinks: bool = True
    ) -> None:
        self.premises, self._bounds = Premises(), 0
        app: Application = altered(Door(self.premises.gateway))
        self.schema: Any = schemathesis.openapi.from_dict(
            linked_document(), config=_configuration(self.premises, without_bounds, shrinks)
        )
        self.schema.app = app
        self.schema.hook("map_case")(tamed)
        self.callers = Callers(self.premises.tokens)
        self.schema.auth(refresh_interval=None)(self.callers.provider())

    def try_alone(self, operation: Operation) -> None:
        """Everything that is there; what the document allows and forbids, at its bounds and by chance. Raises for an
        answer that isn't as it should be."""
        self._bounds = 0
        self._try_known(operation)
        # What @schema.parametrize() does; that would prepare all operations while pytest collects.
        build_operation_test(
            config=self.schema.config,
            operation=self.schema[operation.path][operation.method.lower()],
            test_func=self._try,
            given_kwargs={},
            feedback=NO_FEEDBACK,
        )()

    def try_together(self, below: str = "/", sequences: int = SEQUENCES) -> None:
        """Sequences by one caller, in which requests use what is in earlier answers. ``below``: where paths begin."""
        premises, callers = self.premises, self.callers
        machine = self.schema.include(path_regex=f"^{below}").as_state_machine()

        class Sequence(machine):  # type: ignore[valid-type, misc] # a class made while it runs
            def setup(self) -> None:
                premises.restore()
                self.caller: PrincipalKind | None = None

            def before_call(self, case: Case) -> None:
                self.caller = self.caller or callers.drawn(case)
                callers.send_as(case, self.caller)

            def validate_response(self, response: Response, case: Case, **options: Any) -> None:
                if is_fair(case):
                    super().validate_response(response, case, additional_checks=CHECKS, **options)

        if IS_LONG:
            hypothesis.seed(SEED)(Sequence)
        usual = self.schema.config.get_hypothesis_settings()
        Sequence.run(settings=hypothesis.settings(usual, max_examples=sequences))

    def _try_known(self, operation: Operation) -> None:
        """Reads every single thing: by chance, the odd one would be missed. In ``make test`` every third one, and with
        the next operation others."""
        names = list(operation.parameters("path"))
        if operation.method != "GET" or len(names) != 1:
            return
        for value in [*self.premises.ids, *self.premises.slugs][
            OPERATIONS.index(operation) % KNOWN_APART :: KNOWN_APART
        ]:
            case = self.schema[operation.path]["GET"].Case(path_parameters={names[0]: value})
            self.premises.restore()
            case.call_and_validate(headers=self.callers.headers(PrincipalKind.HUMAN), additional_checks=CHECKS)

    def _try(self, case: Case) -> None:
        if case.meta and case.meta.phase.name == TestPhase.COVERAGE:
            self._bounds += 1
            if self._bounds % BOUNDS_APART:
                return
        if is_fair(case):
            self.premises.restore()
            case.call_and_validate(additional_checks=CHECKS)


@thins
@cache
def campaign() -> Campaign:
    return Campaign(without_bounds=WITHOUT_BOUNDS)


def _configuration(premises: Premises, without_bounds: Sequence[str], shrinks: bool) -> SchemathesisConfig:
    return SchemathesisConfig.from_dict(
        {
            "seed": SEED,
            "cache": {"enabled": False},
            "analysis": {"constants": {"enabled": False}},
            "dictionaries": dictionaries(premises),
            "parameters": bindings(),
            "generation": {
                "max-examples": CASES,
                "no-shrink": not shrinks,
                "deterministic": not IS_LONG,
                "database": "none",
                "allow-x00": False,
                "with-security-parameters": False,
            },
            "checks": {
                "positive_data_acceptance": {"expected-statuses": FIT_FOR_THE_ALLOWED},
                "negative_data_rejection": {"expected-statuses": FIT_FOR_THE_FORBIDDEN},
            },
            "operations": _left_out(without_bounds),
            "phases": {"stateful": {"max-steps": STEPS, "inference": {"algorithms": []}}},
        }
    )


def _left_out(without_bounds: Sequence[str]) -> list[dict[str, Any]]:
    without = {"include-name": [*without_bounds], "phases": {"coverage": {"enabled": False}}}
    return [without] if without_bounds else []
