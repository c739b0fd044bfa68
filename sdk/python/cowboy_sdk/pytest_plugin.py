"""pytest's plugin: the fixtures that `cowboy test` has, so that the same file of tests runs under both.

`chain` is a fresh `cowboy_sdk.testing.Chain`; `alice`, `bob` and `carol` are its funded accounts; `jobs` are the off-chain jobs that
wait on it. pytest finds the plugin by the package's entry point.
"""

import pytest

from . import testing


@pytest.fixture
def chain(request):
    """A fresh chain. Paths of actors are looked for beside the test's file first, then where pytest runs."""
    return testing.Chain(folder=request.path.parent)


@pytest.fixture
def alice():
    return testing.ALICE


@pytest.fixture
def bob():
    return testing.BOB


@pytest.fixture
def carol():
    return testing.CAROL


@pytest.fixture
def jobs(chain):
    """The jobs that wait for an outcome, read anew at each call: `jobs()`."""
    return chain.jobs
