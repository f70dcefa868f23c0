"""The demo's story as assertions: each step a test, in order, in a lab of its own."""

import os

import pytest

from lablib import story
from lablib.lab import Lab


class Listener:
    """Keeps the proofs of the step that is running."""

    def __init__(self):
        self.proofs, self.shown = [], []

    def proof(self, statement, holds, seen):
        self.proofs.append((holds, statement, seen))

    def show(self, text):
        self.shown.append(text)


@pytest.fixture(scope="module")
def told():
    """The story, not yet begun."""
    lab = Lab.up(f"story-{os.getpid()}", owner=os.getpid())
    try:
        made = story.Story(lab, Listener())
        yield made
        made.close()
    finally:
        lab.down()


@pytest.mark.parametrize("step", story.STEPS, ids=[step.__name__ for step in story.STEPS])
def test_step(told, step):
    told.listener.proofs.clear()
    step(told)
    failed = [f"{statement} [{seen}]" for holds, statement, seen in told.listener.proofs if not holds]
    assert told.listener.proofs, "a step proves something"
    assert not failed, "\n".join(failed)
