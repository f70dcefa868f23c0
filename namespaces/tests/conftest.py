"""Fixtures: one lab for the session, the product installed and running in it, and a clean machine around every test."""

import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lablib.clients import LineClient  # noqa: E402
from lablib.lab import Lab  # noqa: E402


@pytest.fixture(scope="session")
def lab():
    """A lab which ends with this test run, however it ends."""
    raised = Lab.up(f"test-{os.getpid()}", owner=os.getpid())
    yield raised
    raised.down()


@pytest.fixture(scope="module")
def line_client(lab):
    """A plain sing-box client in the lab with a port for each line."""
    client = LineClient(lab)
    yield client
    client.close()
