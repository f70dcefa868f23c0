"""Fixtures: one lab for the session, the product installed and running in it, and a clean machine around every test."""

import os
import shutil
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lablib import lines, snapshot  # noqa: E402
from lablib.clients import LineClient  # noqa: E402
from lablib.lab import Lab  # noqa: E402
from lablib.product import Product  # noqa: E402

# A proxy of the machine the tests run on is none in a lab.
for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
    del os.environ[name]


def pytest_addoption(parser):
    """How long the long tests take."""
    parser.addoption("--kills", type=int, default=20, help="random kills in test_kills.py")
    parser.addoption("--cycles", type=int, default=16, help="connect/disconnect cycles in test_growth.py")
    parser.addoption("--seed", type=int, default=1, help="of the random kills")


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


@pytest.fixture(scope="module")
def product(lab):
    """The product with a running worker and an imported subscription; afterwards the user's machine must be clean."""
    before = snapshot.take(lab)
    made = Product(lab)
    made.start()
    made.controller("import", lab.subscription)
    yield made
    made.controller("disconnect", check=False)
    made.controller("forget", check=False)
    made.stop()
    shutil.rmtree(made.state_directory, ignore_errors=True)
    assert snapshot.differences(before, snapshot.take(lab)) == []


@pytest.fixture
def connected(product):
    """The product connected through its first line in Rule mode; disconnected afterwards."""
    product.connect(lines.LINES[0][1], "--mode", "rule")
    yield product
    product.controller("disconnect", check=False)
