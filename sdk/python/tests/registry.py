"""A registry of images: as much of the distribution specification as pushing and pulling need."""

import hashlib
import http.server
import re
import threading


class Registry:
    """Listens on loopback while it is used as a context manager."""

    def __init__(self):
        self.blobs, self.manifests, self.tags = {}, {}, set()
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, status, body=b"", **headers):
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def found(self):
                kind, name = re.fullmatch(r"/v2/.+/(blobs|manifests)/(.+)", self.path).groups()
                body = (registry.blobs if kind == "blobs" else registry.manifests).get(name)
                self.answer(404) if body is None else self.answer(200, body)

            do_GET = do_HEAD = found

            def do_POST(self):
                self.answer(202, Location=self.path + "1")

            def do_PUT(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                digest = "sha256:" + hashlib.sha256(body).hexdigest()
                upload = re.search(r"/blobs/uploads/1\?digest=(.+)", self.path)
                if upload:
                    if upload[1].replace("%3A", ":") != digest:
                        return self.answer(400)
                    registry.blobs[digest] = body
                else:
                    # What a manifest names has to be there already.
                    if not all(name in registry.blobs for name in re.findall(rb"sha256:[0-9a-f]{64}", body) for name in [name.decode()]):
                        return self.answer(400)
                    name = self.path.rpartition("/")[2]
                    registry.manifests[name] = body
                    registry.tags.add(name)
                self.answer(201)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
