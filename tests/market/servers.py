"""Servers that the market's tests talk to, each a process of its own: `python3 servers.py web` and `python3 servers.py llm`.

Both print `ready: URL` and serve until they are ended. Everything they answer follows from what they are asked.
"""

import hashlib
import json
import re
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

WIDTH = 64


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body, status=200, kind="application/json"):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Web(Handler):
    """Pages. `/price`, `/page`, `/held?free=N` (all requests but the first N wait for `/release`), `/asked?path=P` (how many came)."""

    asked = Counter()
    released = threading.Event()
    lock = threading.Lock()

    def do_GET(self):
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        with Web.lock:
            Web.asked[url.path] += 1
            number = Web.asked[url.path]
        if url.path == "/price":
            return self.answer({"price": "42.10", "currency": "USD"})
        if url.path == "/page":
            return self.answer(b"<html><title>News</title><p class='lead'>Cowboys trade hats.</p></html>", kind="text/html")
        if url.path == "/held":
            if number > int(query.get("free", 0)):
                Web.released.wait(60)
            return self.answer({"held": True})
        if url.path == "/release":
            Web.released.set()
            return self.answer({})
        if url.path == "/asked":
            return self.answer({"asked": Web.asked[query["path"]]})
        return self.answer({"error": "no such page"}, 404)


class Model(Handler):
    """A model server with OpenAI's interface. What stands in a prompt says how it behaves."""

    asked = Counter()
    lock = threading.Lock()

    def do_GET(self):
        self.answer({"object": "list", "data": [{"id": "stub", "object": "model"}]})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.endswith("/embeddings"):
            return self.answer({"data": [{"index": 0, "embedding": embedding(asked["input"])}], "usage": {"prompt_tokens": words(asked["input"])}})
        prompt = next(message["content"] for message in asked["messages"] if message["role"] == "user")
        with Model.lock:
            Model.asked[prompt] += 1
            number = Model.asked[prompt]
        if "busy twice" in prompt and number <= 2:
            return self.answer({"error": "busy"}, 429)
        if "always broken" in prompt:
            return self.answer({"error": "broken"}, 500)
        text = reply(prompt, asked)
        counted = {"prompt_tokens": words(" ".join(message["content"] for message in asked["messages"])), "completion_tokens": words(text)}
        self.answer({"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}], "usage": counted})


def words(text):
    return len(text.split())


def reply(prompt, asked):
    form = asked.get("response_format", {})
    if "stubborn" in prompt or "first badly" in prompt and len(asked["messages"]) == 1:
        return "I would rather talk about hats."
    if form.get("type") == "json_schema":
        text = json.dumps(instance(form["json_schema"]["schema"], prompt))
        return f"```json\n{text}\n```" if "fenced" in prompt else text
    if form.get("type") == "json_object":
        return json.dumps({"echo": prompt[:100]})
    said = re.search(r"say: (.*)", prompt)
    return said[1] if said else f"You asked: {prompt[:100]}"


def instance(schema, prompt, root=None):
    """Something of a schema: the first of what it allows, and texts out of the prompt."""
    root = schema if root is None else root
    if "$ref" in schema:
        part = root
        for name in schema["$ref"].removeprefix("#/").split("/"):
            part = part[name]
        return instance(part, prompt, root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        named = [value for value in schema["enum"] if str(value).lower() in prompt.lower()]
        return (named or schema["enum"])[0]
    kind = schema.get("type", "object")
    if kind == "object":
        return {name: instance(part, prompt, root) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [instance(schema.get("items", {"type": "string"}), prompt, root)] * max(1, schema.get("minItems", 1))
    if kind in ("integer", "number"):
        found = re.search(r"\d+", prompt)
        number = int(found[0]) if found else 1
        return max(schema.get("minimum", number), min(number, schema.get("maximum", number)))
    if kind == "boolean":
        return "yes" in prompt.lower()
    return prompt[: min(60, schema.get("maxLength", 60))]


def embedding(text):
    """A vector of which words stand in a text: texts with the same words are near."""
    vector = [0.0] * WIDTH
    for word in re.findall(r"\w+", text.lower()):
        vector[int.from_bytes(hashlib.sha256(word.encode()).digest()[:2], "big") % WIDTH] += 1.0
    return vector if any(vector) else [1.0] + vector[1:]


if __name__ == "__main__":
    handler = {"web": Web, "llm": Model}[sys.argv[1]]
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    print(f"ready: http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
