"""The guide's programs run as printed."""

import pathlib
import re

GUIDE = pathlib.Path(__file__).parents[3] / "docs/actors.md"


def test_the_first_actor_passes_the_printed_test(tmp_path, monkeypatch):
    first, _, test = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    (tmp_path / "guestbook.py").write_text(first)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(test, names)
    names["test_sign"]()
