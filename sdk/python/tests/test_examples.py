"""Every example's scenario on the in-process chain and on a devnet, and its manifest by the rules of 000 §3.3 and §10.

The devnet needs the programs (`cargo build`, or COWBOY_BIN names their folder); without them its tests are skipped.
"""

import json
import pathlib

import pytest
from devnet import DevnetWorld, programs
from scenario import FakeWorld, Scenario

FOLDER = pathlib.Path(__file__).parents[3] / "examples"
EXAMPLES = sorted(path.parent for path in FOLDER.glob("*/actor.py"))
# Web sites are visited instead: test_http.py.
PLAYED = [folder for folder in EXAMPLES if (folder / "test.json").exists()]
# Those that need runners have answers in their scripts; on a devnet the answers would be the runners'.
WITHOUT_JOBS = [folder for folder in PLAYED if '"answer"' not in (folder / "test.json").read_text()]
KNOWN = {
    "econ.hold_balance": set(),
    "econ.transfer": {"max_amount", "max_per_block"},
    "http.fetch": {"allowlist_domains", "domain_set", "max_requests"},
    "ingress.http": {"allowlist_methods", "max_request_bytes", "max_response_bytes", "max_query_cycles"},
    "oracle.llm": {"max_requests", "max_tokens"},
    "storage.blob": {"max_bytes"},
    "storage.kv": {"max_bytes"},
    "timer.schedule": {"max_timers"},
}


@pytest.mark.parametrize("folder", PLAYED, ids=lambda folder: folder.name)
def test_scenario(folder):
    Scenario(folder, FakeWorld()).run()


@pytest.mark.skipif(programs() is None, reason="cowboyd is not built")
@pytest.mark.parametrize("folder", WITHOUT_JOBS, ids=lambda folder: folder.name)
def test_scenario_on_a_devnet(folder):
    with DevnetWorld(programs()) as world:
        Scenario(folder, world).run()


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_manifest(folder):
    """A-245, A-246, A-247: known ids, sorted, unique, parameters of the right type."""
    grants = json.loads((folder / "manifest.json").read_text())["entitlements"]
    ids = [grant["id"] for grant in grants]
    assert ids == sorted(set(ids))
    for grant in grants:
        parameters = grant.get("params", {})
        assert set(parameters) <= KNOWN[grant["id"]]
        methods = parameters.pop("allowlist_methods", [])
        assert all(method in ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT") for method in methods)
        domains = parameters.pop("allowlist_domains", [])
        assert domains == sorted(set(domains)) and all(type(domain) is str for domain in domains)
        assert all(type(value) is int and value >= 0 for value in parameters.values())
