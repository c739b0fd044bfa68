"""Servers that the market's tests talk to, each a process of its own: `python3 servers.py web`, `llm`, and `sites FOLDER`.

Each prints `ready: URL` and serves until it is ended. What they answer follows from what they are asked, and how often.
"""

import datetime
import hashlib
import json
import pathlib
import re
import ssl
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

WIDTH = 64

# What the five sources of `examples/oracle` say. One is out of order, and one is out of its mind.
PRICES = {
    "alpha.example.com": "3012.50",
    "beta.example.com": "3013.10",
    "gamma.example.com": "3011.90",
    "delta.example.com": None,
    "epsilon.example.com": "999999.99",
}
NEWS = "news.example.com"
STATUS = "status.example.com"
SITES = (*PRICES, NEWS, STATUS)

# A model that words its answers otherwise, and one that answers something else.
CHAT, TURNED, CONTRARY, EMBEDDING = "scripted-1", "scripted-turned", "scripted-contrary", "words-64"


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
    """Pages. `/price`, `/page`, `/held?free=N` (all requests but the first N wait for `/release`), `/asked?path=P` (how many came), `/guarded` (looks at
    the authorization), `/away?to=URL`."""

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
        if url.path == "/guarded":
            # Says what it was sent, or only whether it was right.
            given = self.headers.get("authorization", "")
            if query.get("echo"):
                return self.answer({"given": given})
            return self.answer({"is_right": given == "Bearer sk-very-secret"})
        if url.path == "/away":
            self.send_response(307)
            self.send_header("location", query["to"])
            self.send_header("content-length", "0")
            return self.end_headers()
        return self.answer({"error": "no such page"}, 404)


class Sites(Handler):
    """Web sites of several names, over TLS. `/service` of the status page changes after its first visitor."""

    visitors = Counter()
    lock = threading.Lock()

    def do_GET(self):
        host, path = self.headers["host"], urlsplit(self.path).path
        with Sites.lock:
            Sites.visitors[host] += 1
            number = Sites.visitors[host]
        if host in PRICES and path == "/price/ETH":
            price = PRICES[host]
            return self.answer({"price": price} if price else {"error": "maintenance"}, 200 if price else 503)
        if host == NEWS and path == "/today":
            return self.answer(b"<p>Cowboy Hats sells more than ever: 85 of 100 analysts say buy.</p>", kind="text/html")
        if host == STATUS and path == "/service":
            return self.answer(b"up\n" if number == 1 else b"down\n", kind="text/plain")
        return self.answer({"error": "no such page"}, 404)


def certificates(folder):
    """Makes an authority and a certificate of all sites, and leaves `ca.pem` in the folder. Returns the server's side of TLS."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    now = datetime.datetime.now(datetime.timezone.utc)
    authority, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())

    def signed(subject, public_key, *extensions):
        names = [x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]) for name in (subject, "authority of tests")]
        builder = x509.CertificateBuilder(names[1], names[0], public_key, x509.random_serial_number())
        builder = builder.not_valid_before(now - datetime.timedelta(hours=1)).not_valid_after(now + datetime.timedelta(days=1))
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical)
        return builder.sign(authority, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    root = signed("authority of tests", authority.public_key(), (x509.BasicConstraints(True, None), True))
    leaf = signed("sites", key.public_key(), (x509.SubjectAlternativeName([x509.DNSName(site) for site in SITES]), False))
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "ca.pem").write_bytes(root)
    (folder / "sites.pem").write_bytes(leaf + key.private_bytes(*form))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "sites.pem")
    return context


class Model(Handler):
    """A model server with OpenAI's interface. What stands in a prompt says how it behaves."""

    asked = Counter()
    lock = threading.Lock()

    def do_GET(self):
        self.answer({"object": "list", "data": [{"id": name, "object": "model"} for name in (CHAT, TURNED, CONTRARY, EMBEDDING)]})

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
    form, model = asked.get("response_format", {}), asked["model"]
    if "stubborn" in prompt or "first badly" in prompt and len(asked["messages"]) == 1:
        return "I would rather talk about hats."
    if form.get("type") == "json_schema":
        text = json.dumps(instance(form["json_schema"]["schema"], "sell" if model == CONTRARY else prompt))
        return f"```json\n{text}\n```" if "fenced" in prompt else text
    if form.get("type") == "json_object":
        return json.dumps({"echo": prompt[:100]})
    if model == CONTRARY:
        return "Ask somebody else."
    said = re.search(r"say: (.*)", prompt)
    text = said[1] if said else f"You asked: {prompt[:100]}"
    return " ".join(reversed(text.split())) if model == TURNED else text


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
    handler = {"web": Web, "llm": Model, "sites": Sites}[sys.argv[1]]
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    scheme = "http"
    if handler is Sites:
        server.socket = certificates(pathlib.Path(sys.argv[2])).wrap_socket(server.socket, server_side=True)
        scheme = "https"
    print(f"ready: {scheme}://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
