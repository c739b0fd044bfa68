"""docs/images.md, from a program to an image that jobs may run: every block of the page."""

import re
import subprocess

from devnet import ROOT
from pages import block
from registry import Registry
from shell import devnet, shell  # noqa: F401, the fixtures


def test_images(shell):
    """A program is packed, verified, pushed to a registry and allowed, by what the page says."""
    page = "docs/images.md"
    (shell.clone / "count.rs").write_text(block(page, "Pack one", "rust").text)
    found = subprocess.run(["rustc", "--print", "sysroot"], cwd=ROOT, capture_output=True, text=True, check=True)
    shell.environment["PATH"] += f":{found.stdout.strip()}/bin"
    packed = shell.run(shell.clone, block(page, "Pack one 2", "sh").commands())
    images = re.findall(r"count@sha256:[0-9a-f]{64}", packed)
    assert len(images) == 2 and len(set(images)) == 1 and "unpacked" in packed, packed
    counted = subprocess.run([shell.clone / "count"], input="a b c", capture_output=True, text=True, check=True)
    assert counted.stdout == "3\n"
    shown = shell.run(shell.clone, block(page, "Pack one 3", "sh").commands())
    assert "starts    /app" in shown and "env       LANG=C" in shown and "in        /data" in shown, shown
    with Registry() as registry:
        (push,) = (line.replace("localhost:5000", registry.address) for line in block(page, "Push it", "sh").commands())
        assert "2 blobs" in shell.run(shell.clone, [push]) and "0 blobs, 0 bytes; there before: 2" in shell.run(shell.clone, [push])
        digest = images[0].removeprefix("count@")
        pull = f"cowboy image pull oci://{registry.address}/tools/count@{digest} --out pulled.tar"
        assert digest in shell.run(shell.clone, [pull, "cowboy image verify pulled.tar"])
        assert registry.tags == {"v1", digest}
    allowed = shell.run(shell.clone, block(page, "Have it allowed", "sh").commands())
    assert f"{images[0]} is allowed" in allowed and f"\n{images[0]}  since " in allowed and f"{images[0]} is forbidden" in allowed, allowed
