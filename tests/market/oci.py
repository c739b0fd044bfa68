"""Images for tests, and the registries that have them: an OCI image layout is a folder with blobs under their digests."""

import hashlib
import io
import json
import pathlib
import platform
import shutil
import subprocess
import tarfile
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from world import HERE, ROOT, until

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def rustc(source, program):
    """Builds a program that needs no other file."""
    command = ["rustc", "--edition", "2024", "-O", "-C", "target-feature=+crt-static", "-C", "strip=symbols", "-o", program, source]
    subprocess.run([str(part) for part in command], check=True, cwd=ROOT)
    return program


def program(folder):
    """The program of program.rs."""
    return rustc(HERE / "program.rs", folder / "program")


class Layout:
    """An OCI image layout of this computer's platform."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "blobs/sha256").mkdir(parents=True)
        (self.folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
        self.manifests = []
        self.list()

    def list(self):
        (self.folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": self.manifests}))

    def blob(self, digest):
        return self.folder / "blobs/sha256" / digest.removeprefix("sha256:")

    def add(self, media_type, data):
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        self.blob(digest).write_bytes(data)
        return {"mediaType": media_type, "digest": digest, "size": len(data)}

    def image(self, files, entrypoint, env=()):
        """An image of these files, each a path in the image and one of this computer. Answers its digest."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for name, path in files.items():
                entry = archive.gettarinfo(path, name)
                entry.uid, entry.gid, entry.uname, entry.gname, entry.mtime = 0, 0, "", "", 0
                with open(path, "rb") as file:
                    archive.addfile(entry, file if entry.isfile() else None)
        layer = self.add(LAYER, packed.getvalue())
        settings = {"Entrypoint": entrypoint, "Env": list(env), "WorkingDir": "/"}
        architecture = ARCHITECTURES[platform.machine()]
        config = {"architecture": architecture, "os": "linux", "config": settings, "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]}}
        config = self.add(CONFIG, json.dumps(config).encode())
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer]}
        manifest = self.add(MANIFEST, json.dumps(manifest).encode())
        self.manifests.append(manifest)
        self.list()
        return manifest["digest"]

    def blobs_of(self, digest):
        """Config and layers of an image."""
        manifest = json.loads(self.blob(digest).read_bytes())
        return [part["digest"] for part in [manifest["config"], *manifest["layers"]]]


class Serving:
    """A server of this process, with a handler of its own."""

    def __init__(self, handler):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.address = f"127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def end(self):
        self.server.shutdown()
        self.server.server_close()


class Registry(Serving):
    """What a runner needs of the distribution specification, and no more. `lies` maps digests to the bytes that are sent instead."""

    def __init__(self, layout):
        self.asked, self.lies = [], {}
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                registry.asked.append(self.path)
                digest = self.path.rsplit("/", 1)[1]
                path = layout.blob(digest)
                data = registry.lies.get(digest) or (path.read_bytes() if path.exists() else None)
                self.send_response(404 if data is None else 200)
                self.send_header("content-length", str(len(data or b"")))
                self.send_header("content-type", MANIFEST if "/manifests/" in self.path else "application/octet-stream")
                self.end_headers()
                self.wfile.write(data or b"")

        super().__init__(Handler)


class RealRegistry:
    """The registry of the Debian package docker-registry, in a process of its own."""

    PROGRAM = shutil.which("docker-registry")

    def __init__(self, folder):
        settings = folder / "registry.yml"
        settings.write_text(f"version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: {folder / 'registry'}\nhttp:\n  addr: 127.0.0.1:0\n")
        self.log = folder / "registry.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([self.PROGRAM, "serve", settings], stdout=log, stderr=log, cwd=folder)
        self.address = until("the registry", self.listening)

    def listening(self):
        """It says which port the system gave it."""
        _, found, rest = self.log.read_text().partition("listening on ")
        return rest.split('"')[0].split()[0] if found and '"' in rest else None

    def push(self, layout, name, digest):
        base = f"http://{self.address}/v2/{name}"
        for blob in layout.blobs_of(digest):
            with urllib.request.urlopen(urllib.request.Request(f"{base}/blobs/uploads/", method="POST")) as started:
                location = started.headers["Location"]
            send(f"{location}&digest={blob}", layout.blob(blob).read_bytes(), "application/octet-stream")
        send(f"{base}/manifests/{digest}", layout.blob(digest).read_bytes(), MANIFEST)

    def end(self):
        self.process.terminate()
        self.process.wait()


def send(url, data, kind):
    urllib.request.urlopen(urllib.request.Request(url, data=data, method="PUT", headers={"content-type": kind})).close()
