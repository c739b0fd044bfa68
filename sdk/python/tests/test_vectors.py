"""The vectors that the VM is held to are what CPython does now. To change them: make_vectors.py, in a commit of its own."""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
VECTORS = HERE.parents[2] / "tests/vectors/sdk.json"


def test_vectors_are_up_to_date():
    done = subprocess.run([sys.executable, HERE / "make_vectors.py", "-"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(VECTORS.read_text())
