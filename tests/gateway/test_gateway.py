"""A gateway in a process of its own, as the internet sees it: DNS by dig, certificates by pebble, TLS, a fuzzer, and hostile clients."""

import contextlib
import json
import os
import pathlib
import socket
import ssl
import subprocess
import sys
import time

import httpx
import pytest
import trustme
from world import ROOT, Refused, World, fetch, until

ZONE = "cowboy.test"
EXAMPLES = ROOT / "examples"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Gateway:
    """A gateway, where it listens, and how it is asked."""

    def __init__(self, world, name, settings, account=None):
        registration = ""
        if account is not None:
            (world.folder / f"{name}.key").write_text(world.accounts[account][1])
            registration = f'key_file = "{name}.key"\n[register]\nendpoint = "127.0.0.1"\nhttp_port = 80\nstake_cby = 10000\n'
        file = world.folder / f"{name}.toml"
        file.write_text(f'node = "{world.url}"\n{registration}{settings}')
        self.process = world.start("cowboy-gateway", [world.bin / "cowboyd", "--config", file])
        said = dict(line.split(": ", 1) for line in self.process.said if ": " in line)
        self.http = int(said["ready"].rsplit(":", 1)[1])
        self.tls = int(said["tls"].rsplit(":", 1)[1]) if "tls" in said else None
        self.names = int(said["names"].rsplit(":", 1)[1]) if "names" in said else None

    def dig(self, name, *options):
        """The status, the flags, and the answer's records: name, time, kind, data."""
        command = ["dig", "@127.0.0.1", "-p", str(self.names), "+tries=1", "+time=5", "+noall", "+comments", "+answer", name, *options]
        said = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout
        status = said.split("status: ")[1].split(",")[0]
        flags = said.split(";; flags: ")[1].split(";")[0].split()
        records = [line.split(None, 4) for line in said.splitlines() if line and not line.startswith(";")]
        return status, flags, [(name, int(time_to_live), kind, data) for name, time_to_live, _, kind, data in records]

    def visit(self, host, trusted, path="/", *, http2=False, version=None):
        """A page over TLS, by the name in the certificate."""
        context = ssl.create_default_context(cadata=trusted)
        if version is not None:
            context.minimum_version = context.maximum_version = version
        with httpx.Client(http1=not http2, http2=http2, verify=context) as client:
            return client.get(f"https://127.0.0.1:{self.tls}{path}", headers={"Host": host}, extensions={"sni_hostname": host})

    def shown(self, host):
        """The certificate that is shown, whoever made it."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with socket.create_connection(("127.0.0.1", self.tls), timeout=10) as plain, context.wrap_socket(plain, server_hostname=host) as secure:
            return secure.getpeercert(binary_form=True)


class Pebble:
    """The authority that Let's Encrypt tests clients with; every domain is on the loopback, and proofs over HTTP are at `port`."""

    def __init__(self, world, port):
        authority, folder = trustme.CA(), world.folder
        server = authority.issue_cert("localhost", "127.0.0.1")
        server.private_key_pem.write_to_path(folder / "pebble.key")
        server.cert_chain_pems[0].write_to_path(folder / "pebble.pem")
        self.root = folder / "pebble-root.pem"
        authority.cert_pem.write_to_path(self.root)
        self.trusted = ssl.create_default_context(cadata=authority.cert_pem.bytes().decode())
        self.address, self.management, self.names, self.answers_at = (f"127.0.0.1:{free_port()}" for _ in range(4))
        settings = {
            "listenAddress": self.address,
            "managementListenAddress": self.management,
            "certificate": str(folder / "pebble.pem"),
            "privateKey": str(folder / "pebble.key"),
            "httpPort": port,
            "tlsPort": free_port(),
        }
        (folder / "pebble.json").write_text(json.dumps({"pebble": settings}))
        self.directory = f"https://{self.address}/dir"
        self.log = open(folder / "pebble.err", "wb")
        resolver = ["pebble-challtestsrv", "-dns01", self.names, "-defaultIPv6", "", "-http01", "", "-https01", "", "-tlsalpn01", ""]
        resolver += ["-management", self.answers_at]
        commands = [resolver, ["pebble", "-config", folder / "pebble.json", "-dnsserver", self.names]]
        # It asks at once, instead of after up to 15 seconds.
        environment = {**os.environ, "PEBBLE_VA_NOSLEEP": "1"}
        self.processes = [subprocess.Popen(command, stdout=self.log, stderr=self.log, env=environment) for command in commands]

    def __enter__(self):
        until("pebble", self.answers)
        self.issued_by = httpx.get(f"https://{self.management}/roots/0", verify=self.trusted).text
        return self

    def answers(self):
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(self.directory, verify=self.trusted).status_code == 200

    def set_texts(self, name, *texts):
        """The DNS has these texts at a name, and no others."""
        httpx.post(f"http://{self.answers_at}/clear-txt", json={"host": f"{name}."})
        for text in texts:
            httpx.post(f"http://{self.answers_at}/set-txt", json={"host": f"{name}.", "value": text})

    def __exit__(self, *problem):
        for process in self.processes:
            process.terminate()
            process.wait(20)
        self.log.close()


def settings(http, pebble):
    """The settings of a gateway with TLS, and with certificates of the authority."""
    return (
        f'[http]\nlisten = "127.0.0.1:{http}"\nzones = ["{ZONE}"]\n'
        '[tls]\nlisten = "127.0.0.1:0"\ncertificate = "tls.pem"\nkey = "tls.key"\n'
        f'[tls.acme]\ndirectory = "{pebble.directory}"\ndomains = ["mysite.{ZONE}"]\nroot = "{pebble.root}"\naccount = "acme.json"\n'
    )


@pytest.fixture
def world(tmp_path):
    with World(tmp_path, "--block-time", "instant", "--runners", "0", "--no-gateway", "--balance", "50000") as world:
        site = world.run("actor", "deploy", "--code", EXAMPLES / "site" / "actor.py")["address"]
        world.run("name", "register", "mysite", "--actor", site)
        yield world


def test_certificates(world):
    """A-345, A-348: a certificate obtained, used, and changed without a restart, by a gateway that is neither validator nor runner."""
    plain, host = free_port(), f"mysite.{ZONE}"
    with Pebble(world, plain) as pebble:
        gateway = Gateway(world, "gateway", settings(plain, pebble), account=1)
        page = until("the page", lambda: attempt(lambda: gateway.visit(host, pebble.issued_by)))
        assert page.status_code == 200 and "Guest book" in page.text and page.http_version == "HTTP/1.1"
        assert gateway.visit(host, pebble.issued_by, http2=True).http_version == "HTTP/2"
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            assert gateway.visit(host, pebble.issued_by, version=version).status_code == 200
        assert {path.name: path.stat().st_mode & 0o777 for path in world.folder.glob("tls.*")} == {"tls.pem": 0o600, "tls.key": 0o600}
        # A proof is nobody's page once it was looked at.
        challenge = f"http://127.0.0.1:{gateway.http}/.well-known/acme-challenge/x"
        assert httpx.get(challenge, headers={"Host": host}).status_code == 404

        mine = world.accounts[1][0].lower()
        assert [found["address"].lower() for found in world.run("gateway", "list")["gateways"]] == [mine]
        assert world.get("/runners")["runners"] == []
        assert world.run("gateway", "unstake", account=1), "the node goes on without it"
        renewal(world, gateway)


def attempt(visit):
    """A visit while the certificate may not be in use yet."""
    with contextlib.suppress(httpx.TransportError):
        return visit()


def test_the_zone(world):
    """A-346: names are where the active gateways are, for a bounded time; nothing is said about other zones."""
    text = f'[http]\nlisten = "127.0.0.1:0"\nzones = ["{ZONE}"]\n[dns]\nlisten = "127.0.0.1:0"\nttl = 30\n'
    gateway = Gateway(world, "names", text, account=1)
    until("the gateway's address", lambda: gateway.dig(f"mysite.{ZONE}", "A")[2])
    here = [(f"mysite.{ZONE}.", 30, "A", "127.0.0.1")]
    assert gateway.dig(f"mysite.{ZONE}", "A") == ("NOERROR", ["qr", "aa", "rd"], here)
    assert gateway.dig(f"mysite.{ZONE}", "A", "+tcp") == ("NOERROR", ["qr", "aa", "rd"], here)
    assert gateway.dig(f"MySite.{ZONE}", "A")[2][0][3] == "127.0.0.1"
    assert gateway.dig(f"deep.below.mysite.{ZONE}", "A")[2][0][3] == "127.0.0.1"
    assert gateway.dig(ZONE, "A")[2][0][3] == "127.0.0.1"
    assert gateway.dig(ZONE, "NS")[2] == [(f"{ZONE}.", 30, "NS", f"ns.{ZONE}.")]
    assert gateway.dig(ZONE, "SOA")[2][0][3].startswith(f"ns.{ZONE}. hostmaster.{ZONE}. ")
    nothing = ("NOERROR", ["qr", "aa", "rd"], [])
    for name, kind in [(f"mysite.{ZONE}", "AAAA"), (f"mysite.{ZONE}", "MX"), (f"_acme-challenge.{ZONE}", "TXT"), (f"_x.{ZONE}", "A")]:
        assert gateway.dig(name, kind) == nothing, (name, kind)
    refused = ("REFUSED", ["qr", "rd"], [])
    for name, options in [("example.com", ["A"]), ("test", ["NS"]), (".", ["NS"]), (f"not{ZONE}", ["A"]), (ZONE, ["-c", "CH", "-t", "A"])]:
        assert gateway.dig(name, *options) == refused, (name, options)
    # A transfer prints no comments: it says so in words.
    transfer = subprocess.run(["dig", "@127.0.0.1", "-p", str(gateway.names), ZONE, "AXFR"], capture_output=True, text=True, timeout=20)
    assert "Transfer failed" in transfer.stdout
    # What is no question is no reason to stop.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        for junk in (b"", b"\0", b"\xff" * 12, b"\0" * 600, bytes(range(256))):
            udp.sendto(junk, ("127.0.0.1", gateway.names))
    assert gateway.dig(f"mysite.{ZONE}", "A")[0] == "NOERROR"
    # Whoever leaves is no answer any more.
    world.run("gateway", "unstake", account=1)
    until("an answer without gateways", lambda: not gateway.dig(f"mysite.{ZONE}", "A")[2])


def renewal(world, gateway):
    """Files that change are used without a restart; a pair that does not fit is not."""
    before = gateway.shown(f"mysite.{ZONE}")
    certificate, key = world.folder / "tls.pem", world.folder / "tls.key"
    certificate.write_text("no certificate")
    until("a warning", lambda: "the old one stays" in gateway.process.errors.read_text())
    assert gateway.shown(f"mysite.{ZONE}") == before
    own = trustme.CA()
    issued = own.issue_cert(f"mysite.{ZONE}")
    issued.private_key_pem.write_to_path(key)
    certificate.write_bytes(b"".join(pem.bytes() for pem in issued.cert_chain_pems))
    until("the new certificate", lambda: gateway.shown(f"mysite.{ZONE}") != before)
    assert gateway.visit(f"mysite.{ZONE}", own.cert_pem.bytes().decode()).status_code == 200


def test_a_beginning_at_the_newest_block(world):
    """A gateway that never saw the chain's first blocks serves what one shows that executed them all, also after a restart."""
    world.run("chain", "mine", "30")
    listen = f'[http]\nlisten = "127.0.0.1:0"\nzones = ["{ZONE}"]\n'
    late = 'start = "newest"\nstate = "late"\n' + listen
    gateways = [Gateway(world, "early", 'start = "genesis"\n' + listen), Gateway(world, "late", late)]
    pages = [page(gateway) for gateway in gateways]
    assert pages[0] == pages[1]
    gateways[1].process.end()
    world.run("chain", "mine", "3")
    again = Gateway(world, "late", late)
    assert page(again) == pages[0]


def test_the_node_goes_away(world):
    """Pages are served from the last block, commands are refused for now, and health says why."""
    text = f'[http]\nlisten = "127.0.0.1:0"\nzones = ["{ZONE}"]\n'
    gateway = Gateway(world, "left", text, account=1)
    before, url, host = page(gateway), f"http://127.0.0.1:{gateway.http}", {"Host": f"mysite.{ZONE}"}
    health = lambda: httpx.get(f"{url}/_cowboy/health", headers=host)
    sign = lambda: httpx.post(f"{url}/sign", headers=host, content=b"text=hello", timeout=30)
    assert health().json()["status"] == "ok" and until("a place among the gateways", lambda: sign().status_code == 202)
    world.node.end()
    gone = until("that it is missed", lambda: (answer := health()).status_code == 503 and answer)
    assert gone.json()["status"] == "source_away" and page(gateway)
    refused = sign()
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1"), refused.text


def page(gateway):
    """The site's page, once the gateway has it."""
    ask = lambda: httpx.get(f"http://127.0.0.1:{gateway.http}/", headers={"Host": f"mysite.{ZONE}"}, timeout=10)
    return until("the page", lambda: (answer := ask()).status_code == 200 and answer.text)


def test_hostile_connections_end(world):
    """Slow and silent clients lose their connections, heads that never end are refused, and others are served meanwhile."""
    limits = "head_timeout_ms = 1000\nbody_timeout_ms = 1000\nidle_timeout_ms = 2000\nconnections = 40"
    text = f'[http]\nlisten = "127.0.0.1:0"\nzones = ["{ZONE}"]\n[http.limits]\n{limits}\n'
    gateway = Gateway(world, "plain", text, account=1)
    ask = lambda: httpx.get(f"http://127.0.0.1:{gateway.http}/", headers={"Host": f"mysite.{ZONE}"}, timeout=10)
    until("the page", lambda: ask().status_code == 200)
    head = f"GET / HTTP/1.1\r\nHost: mysite.{ZONE}\r\n".encode()
    post = f"POST /sign HTTP/1.1\r\nHost: mysite.{ZONE}\r\nContent-Length: 100\r\n\r\ntext=".encode()
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    silent = [b"", b"GE", head, head + b"X: y", post, preface, head + b"\r\n"]
    connections = []
    for said in silent * 3:
        connection = socket.create_connection(("127.0.0.1", gateway.http), timeout=20)
        connection.sendall(said)
        connections.append((said, connection))
    assert ask().status_code == 200, "others are served"
    for said, connection in connections:
        answer = read_to_end(connection)
        assert answer.startswith((b"HTTP/1.1 408", b"HTTP/1.1 200")) if said in (post, head + b"\r\n") else not answer.startswith(b"HTTP/1.1 200"), said
    # One byte now and then is no head.
    slow = socket.create_connection(("127.0.0.1", gateway.http), timeout=20)
    with contextlib.suppress(OSError):
        for byte in head + b"X" * 100:
            slow.sendall(bytes([byte]))
            time.sleep(0.05)
        raise AssertionError("a head of one byte at a time is read for ever")
    for bomb in (b"".join(b"X-%d: y\r\n" % number for number in range(200)), b"X: " + b"y" * 200_000, b"X" * 200_000):
        connection = socket.create_connection(("127.0.0.1", gateway.http), timeout=20)
        with contextlib.suppress(ConnectionError):
            connection.sendall(head + bomb + b"\r\n\r\n")
        answer = read_to_end(connection)
        assert not answer or answer.startswith((b"HTTP/1.1 431", b"HTTP/1.1 400")), answer[:60]
    assert ask().status_code == 200


def read_to_end(connection):
    """All that comes until the other side ends it; 20 seconds of nothing are a failure."""
    said = b""
    with connection, contextlib.suppress(ConnectionError):
        while more := connection.recv(65_536):
            said += more
    return said


def test_an_api_against_its_own_description(world):
    """A fuzzer reads the OpenAPI that the actor's routes make, and finds no answer that breaks it."""
    manifest = EXAMPLES / "api" / "manifest.json"
    api = world.run("actor", "deploy", "--code", EXAMPLES / "api" / "actor.py", "--manifest-json", manifest)["address"]
    world.run("name", "register", "tasks", "--actor", api)
    text = f'[http]\nlisten = "127.0.0.1:0"\nzones = ["{ZONE}"]\n[http.limits]\nrequests_per_second = 0\n'
    gateway = Gateway(world, "fuzzed", text, account=1)
    url, host = f"http://127.0.0.1:{gateway.http}", f"tasks.{ZONE}"
    described = lambda: httpx.get(f"{url}/_cowboy/openapi.json", headers={"Host": host})
    until("the description", lambda: described().status_code == 200)
    schema = world.folder / "openapi.json"
    schema.write_bytes(described().content)
    command = [pathlib.Path(sys.executable).parent / "schemathesis", "run", schema, "--url", url, "-H", f"Host: {host}", "--max-examples", "10"]
    command += ["--seed", "7", "--generation-database", "none", "--checks", "not_a_server_error,status_code_conformance,content_type_conformance"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=180, cwd=world.folder)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert json.loads(fetch(f"{url}/_cowboy/health"))["status"] == "ok"


def test_a_custom_domain(world):
    """D5, decision 333: a domain of another zone is served when its owner and the name's agree, with a certificate of its own, until one of them takes it back."""
    port, shop = free_port(), "shop.example.com"
    with Pebble(world, port) as pebble:
        domains = f'[domains]\nresolver = "{pebble.names}"\nrecheck_seconds = 1\ncertificates = "."\nallow_private = true\nhttp_port = {port}\n'
        gateway = Gateway(world, "shop", settings(port, pebble) + domains, account=1)
        ask = lambda host: httpx.get(f"http://127.0.0.1:{port}/", headers={"Host": host}, timeout=10)
        code = lambda host: (answer := ask(host)).status_code == 200 or answer.headers["x-cowboy-error"]
        until("the page", lambda: ask(f"mysite.{ZONE}").status_code == 200)
        assert code(shop) == "UNKNOWN_ZONE", "nobody claims it"
        # What a domain says that is no proof, each at a domain of its own: the answer is then of a question that was asked after it.
        owner, other = (f"owner={account[0].lower()}" for account in world.accounts[:2])
        right = f"cowboy1 chain=1337 name=mysite {owner}"
        others = (f"cowboy1 chain=1 name=mysite {owner}", f"cowboy1 chain=1337 name=other {owner}", f"{right} ", right.replace(owner, other), right.removesuffix(f" {owner}"))
        for number, wrong in enumerate([[], *([other] for other in others), [right, others[1]]]):
            domain = f"wrong{number}.example.com"
            pebble.set_texts(f"_cowboy.{domain}", *wrong)
            world.run("name", "claim-domain", "mysite", domain)
            assert until("the claim", lambda: (said := code(domain)) != "UNKNOWN_ZONE" and said) == "DOMAIN_UNPROVEN", wrong
        claimed = world.run("name", "claim-domain", "mysite", shop)
        assert (claimed["txt_name"], claimed["txt"]) == (f"_cowboy.{shop}", right)
        pebble.set_texts(claimed["txt_name"], claimed["txt"], "v=spf1 -all", others[0])
        until("the domain", lambda: code(shop) is True)
        for host in (shop, "Shop.Example.COM", f"{shop}.", f"{shop}:8080"):
            assert ask(host).text == ask(f"mysite.{ZONE}").text, host
        # Not what is beside it, above it or below it.
        for host in ("example.com", f"a.{shop}", "xn--shp-5na.example.com", "*.example.com", f"_cowboy.{shop}"):
            assert code(host) == "UNKNOWN_ZONE", host
        until("its certificate", lambda: attempt(lambda: gateway.visit(shop, pebble.issued_by).status_code == 200))
        assert gateway.visit(f"mysite.{ZONE}", pebble.issued_by).status_code == 200, "zones keep theirs"
        # The owner of the domain takes it back; then the owner of the name does.
        pebble.set_texts(claimed["txt_name"])
        until("the end", lambda: code(shop) == "DOMAIN_UNPROVEN")
        until("no certificate", lambda: attempt(lambda: gateway.visit(shop, pebble.issued_by)) is None)
        pebble.set_texts(claimed["txt_name"], claimed["txt"])
        until("the domain", lambda: code(shop) is True)
        world.run("name", "release-domain", "mysite", shop)
        until("the end", lambda: code(shop) == "UNKNOWN_ZONE")


def test_signed_answers(world):
    """A-349: what a gateway says is signed; the client checks it, keeps it, and finds what was changed; true answers prove nothing."""
    gateway = Gateway(world, "signs", '[http]\nlisten = "127.0.0.1:0"\nzones = ["localhost"]\n', account=1)
    url = f"http://mysite.localhost:{gateway.http}/"
    host = {"Host": f"mysite.localhost:{gateway.http}"}
    until("the page", lambda: httpx.get(f"http://127.0.0.1:{gateway.http}/", headers=host).status_code == 200)
    until("a place among the gateways", lambda: world.get("/gateways")["gateways"])
    kept = [world.folder / f"answer{number}.json" for number in range(2)]
    identity = "0f8fad5b-d9cb-469f-a165-70867728950e"
    said = [world.run("gateway", "verify-answer", url, "--id", identity, "--save", file) for file in kept]
    assert (said[0]["signed_by"].lower(), said[0]["is_active"], said[0]["is_state_known"]) == (world.accounts[1][0].lower(), True, True)
    assert world.run("gateway", "verify-answer", kept[0])["height"] == said[0]["height"]
    with pytest.raises(Refused, match="bad_evidence"):
        world.run("gateway", "report-answers", *kept)
    answer = json.loads(kept[0].read_text())
    for part, match in (("body", "another body"), ("status", "another status"), ("request", "another request")):
        changed = {**answer, part: 404 if part == "status" else "0x00"}
        kept[1].write_text(json.dumps(changed))
        with pytest.raises(Refused, match=match):
            world.run("gateway", "verify-answer", kept[1])
    with pytest.raises(Refused, match="the chain 0x"):
        world.run("gateway", "verify-answer", kept[0], "--genesis", "0x" + "00" * 32)
