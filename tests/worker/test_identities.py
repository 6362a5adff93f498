"""User ids: each given once."""

from __future__ import annotations

import os

import pytest

from autograder.worker.forkserver.identities import Identities


@pytest.mark.skipif(os.geteuid() != 0, reason="needs the right to change ids")
def test_ids_are_given_once_and_none_is_a_persons() -> None:
    identities = Identities()
    taken = [identities.take() for _ in range(100)]
    assert None not in taken
    assert len(set(taken)) == 100
    assert min(uid for uid in taken if uid is not None) >= 20_000


def test_an_ordinary_user_has_none_to_give(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    identities = Identities()
    assert identities.kind == "none"
    assert identities.take() is None
