"""What an editor shows about a name: each public one with its documentation, as pyright's language server answers."""

import ast
import contextlib
import json
import os
import pathlib
import subprocess
import sys

import pytest

SDK = pathlib.Path(__file__).parents[1]
# Members that authors write most, with an object that has them.
MEMBERS = {
    "Chain()": ["deploy", "execute", "query", "storage", "events", "mine", "jobs", "answer", "fail", "runner", "visit", "balance", "fund"],
    "Made()": ["storage", "sender", "address"],
    "Made().storage": ["get", "items", "delete", "set_raw", "get_raw", "guard"],
    "runner": ["http", "llm", "mcp", "agent", "container", "continuation", "within"],
    "http": ["get", "post", "html", "json_response"],
}


class Server:
    """pyright's language server over its pipes."""

    def __init__(self, process, settings):
        self.process = process
        self.settings = settings
        self.number = 0

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def read(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, parameters):
        """The answer to a request. What the server asks meanwhile is answered."""
        self.number += 1
        self.send({"id": self.number, "method": method, "params": parameters})
        while True:
            message = self.read()
            if "method" in message and "id" in message:
                items = message["params"].get("items", []) if message["method"] == "workspace/configuration" else None
                self.send({"id": message["id"], "result": items and [self.settings for _ in items]})
            elif message.get("id") == self.number:
                return message["result"]


@contextlib.contextmanager
def server(folder, package):
    beside = pathlib.Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{beside}{os.pathsep}{os.environ['PATH']}"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([beside / "pyright-langserver", "--stdio"], **pipes, env=environment)
    try:
        found = Server(process, {"analysis": {"extraPaths": [str(package)]}})
        place = {"uri": folder.as_uri(), "name": "hover"}
        able = {"workspace": {"configuration": True}, "textDocument": {"hover": {"contentFormat": ["markdown"]}}}
        found.ask("initialize", {"processId": None, "rootUri": place["uri"], "workspaceFolders": [place], "capabilities": able})
        found.send({"method": "initialized", "params": {}})
        yield found
    finally:
        process.terminate()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def names():
    """Every name that `from cowboy_sdk import` gives."""
    tree = ast.parse((SDK / "cowboy_sdk/__init__.pyi").read_text())
    return sorted({alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names})


def test_every_public_name_has_its_documentation(tmp_path, installed):
    pytest.importorskip("pyright")
    public = names()
    lines = [f"from cowboy_sdk import {', '.join(public)}", "from cowboy_sdk.testing import Chain", "@actor", "class Made(Actor): ..."]
    places = []
    for name in public:
        places.append((name, len(lines), 0))
        lines.append(name)
    for owner, members in MEMBERS.items():
        for member in members:
            places.append((f"{owner}.{member}", len(lines), len(owner) + 1))
            lines.append(f"{owner}.{member}")
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"include": ["."], "extraPaths": [str(installed)]}))
    document = {"uri": (tmp_path / "names.py").as_uri(), "languageId": "python", "version": 1, "text": "\n".join(lines) + "\n"}
    with server(tmp_path, installed) as editor:
        editor.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        bare = []
        for name, line, character in places:
            at = {"textDocument": {"uri": document["uri"]}, "position": {"line": line, "character": character}}
            shown = ((editor.ask("textDocument/hover", at) or {}).get("contents") or {}).get("value", "")
            # The signature, a rule, and what it is for.
            if "\n---\n" not in shown and not shown.startswith("(module)"):
                bare.append((name, shown))
    assert bare == []
    assert len(public) > 60
