"""Volumes for programs that do not know them: over S3 and as a mounted folder, in processes of their own (decisions 609 to 611)."""

import concurrent.futures
import contextlib
import hashlib
import http.client
import os
import pathlib
import shutil
import stat
import subprocess

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from test_volumes import Storage
from world import Refused, fetch, programs, until

pytestmark = pytest.mark.skipif(
    not (programs() / "cowboy-volume").exists(), reason="left out: no cowboy-volume beside cowboyd: cargo build -p cowboy-access"
)

CAP_SYS_ADMIN = 21


def no_fuse():
    """Why no folder can be mounted here; None where one can."""
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        return "no /dev/fuse that may be used here"
    status = pathlib.Path("/proc/self/status").read_text()
    rights = int(next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff")), 16)
    if rights >> CAP_SYS_ADMIN & 1 or shutil.which("fusermount3") or shutil.which("fusermount"):
        return None
    return "neither the right to mount nor fusermount here (Debian package: fuse3)"


class Served(Storage):
    """A devnet with relays and a volume, and programs that serve it."""

    def __init__(self, folder, *options):
        super().__init__(folder)
        for number in range(1, 4):
            self.relay(number)
        self.relays_are(3)
        self.volume = self.run("volume", "create", "memory", "--quota", "50MiB", *options)["volume"]

    def access(self, command, *arguments, account=0):
        key = self.accounts[account][1]
        return self.start("cowboy", [self.bin / "cowboyd", "--rpc-url", self.url, "--private-key", key, "volume", command, *arguments])

    def s3(self, *options, volume="memory", account=0):
        """A server, and a client that signs with its credentials."""
        process = self.access("serve", volume, "--s3", "127.0.0.1:0", *options, account=account)
        said = dict(line.split(": ", 1) for line in process.said if ": " in line)
        process.keys = said["access key"], said["secret key"]
        return process, client(process.ready, *process.keys)

    def sequence(self, name="notes"):
        """How many commits a partition had."""
        partition = next(row["partition"] for row in self.run("volume", "ls", "memory") if row["partition"])
        return self.run("call", "storage-manager", "get_partition", "--volume", self.volume, "--partition", partition)["sequence"]

    def content(self, path):
        self.run("volume", "get", "memory", path, self.folder / "fetched")
        return (self.folder / "fetched").read_bytes()


def client(endpoint, access, secret):
    config = Config(signature_version="s3v4", s3={"addressing_style": "path"}, retries={"max_attempts": 1}, max_pool_connections=64)
    names = {"aws_access_key_id": access, "aws_secret_access_key": secret, "region_name": "us-east-1"}
    return boto3.client("s3", endpoint_url=endpoint, config=config, **names)


def code(call, *arguments, **named):
    """The code with which a call is refused."""
    with pytest.raises(ClientError) as refused:
        call(*arguments, **named)
    return refused.value.response["Error"]["Code"]


def test_boto3_uses_a_volume(tmp_path):
    """What boto3 puts is in the volume when it is answered, and what others put is what boto3 gets; files in parts, ranges, lists, copies, conditions."""
    with Served(tmp_path, "--public") as world:
        _, s3 = world.s3()
        assert s3.list_buckets()["Buckets"] == []
        assert code(s3.get_object, Bucket="notes", Key="a") == "NoSuchBucket"
        s3.create_bucket(Bucket="notes")
        text = b"hello world\n" * 20_000
        put = s3.put_object(Bucket="notes", Key="a/b.txt", Body=text, ContentType="text/plain")
        assert len(put["ETag"].strip('"')) == 64
        assert world.content("notes/a/b.txt") == text
        got = s3.get_object(Bucket="notes", Key="a/b.txt")
        assert (got["Body"].read(), got["ContentType"], got["ETag"]) == (text, "text/plain", put["ETag"])
        for first, last in [(0, 0), (65_530, 65_545), (239_999, 500_000)]:
            part = s3.get_object(Bucket="notes", Key="a/b.txt", Range=f"bytes={first}-{last}")
            assert part["Body"].read() == text[first : last + 1] and part["ResponseMetadata"]["HTTPStatusCode"] == 206
        assert s3.head_object(Bucket="notes", Key="a/b.txt")["ContentLength"] == len(text)

        (tmp_path / "other.txt").write_text("from elsewhere")
        world.run("volume", "put", "memory", tmp_path / "other.txt", "notes/a/")
        assert s3.get_object(Bucket="notes", Key="a/other.txt")["Body"].read() == b"from elsewhere"

        id = s3.create_multipart_upload(Bucket="notes", Key="big")["UploadId"]
        pieces = [os.urandom(5 << 20), os.urandom(5 << 20), os.urandom(77)]
        parts = []
        for number, piece in enumerate(pieces, 1):
            tag = s3.upload_part(Bucket="notes", Key="big", UploadId=id, PartNumber=number, Body=piece)["ETag"]
            assert tag.strip('"') == hashlib.md5(piece).hexdigest()
            parts.append({"PartNumber": number, "ETag": tag})
        complete = {"Bucket": "notes", "Key": "big", "UploadId": id, "MultipartUpload": {"Parts": parts}}
        tags = {s3.complete_multipart_upload(**complete)["ETag"] for _ in range(2)}
        assert len(tags) == 1, "a client whose answer was lost repeats its request"
        assert code(s3.complete_multipart_upload, **complete | {"MultipartUpload": {"Parts": parts[:1]}}) == "NoSuchUpload"
        assert world.content("notes/big") == b"".join(pieces)
        gone = {"Bucket": "notes", "Key": "big", "UploadId": s3.create_multipart_upload(Bucket="notes", Key="big")["UploadId"]}
        for _ in range(2):
            assert s3.abort_multipart_upload(**gone)["ResponseMetadata"]["HTTPStatusCode"] == 204
        s3.copy_object(Bucket="notes", Key="copy", CopySource={"Bucket": "notes", "Key": "big"})
        assert hashlib.sha256(world.content("notes/copy")).digest() == hashlib.sha256(b"".join(pieces)).digest()

        pages = s3.get_paginator("list_objects_v2").paginate(Bucket="notes", Delimiter="/", PaginationConfig={"PageSize": 1})
        pages = [(page.get("Contents", []), page.get("CommonPrefixes", [])) for page in pages]
        assert [row["Key"] for contents, _ in pages for row in contents] == ["big", "copy"]
        assert [row["Prefix"] for _, prefixes in pages for row in prefixes] == ["a/"]
        assert [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]] == ["notes"]

        assert code(s3.put_object, Bucket="notes", Key="copy", Body=b"x", IfNoneMatch="*") == "PreconditionFailed"
        assert code(s3.get_object, Bucket="notes", Key="a/b.txt", IfNoneMatch=put["ETag"]) == "304"
        gone = s3.delete_objects(Bucket="notes", Delete={"Objects": [{"Key": key} for key in ["big", "copy", "none"]]})
        assert len(gone["Deleted"]) == 3 and "Errors" not in gone
        assert [row["path"] for row in world.run("volume", "ls", "memory", "notes")] == ["notes/a/b.txt", "notes/a/other.txt"]

        # One relay of three is gone.
        world.relays[world.holders("memory")[0]].kill()
        assert s3.get_object(Bucket="notes", Key="a/b.txt")["Body"].read() == text


def test_puts_share_commits(tmp_path):
    """Many clients at once: all is there, with fewer commits than files. The committee makes the key, and is asked once."""
    with Served(tmp_path) as world:
        _, s3 = world.s3()
        s3.put_object(Bucket="notes", Key="first", Body=b"0")
        before = world.sequence()
        with concurrent.futures.ThreadPoolExecutor(24) as pool:
            list(pool.map(lambda number: s3.put_object(Bucket="notes", Key=f"{number:02}", Body=bytes([number]) * 1_000), range(48)))
        assert world.sequence() - before < 48
        listed = s3.list_objects_v2(Bucket="notes")["Contents"]
        assert len(listed) == 49 and {row["Size"] for row in listed} == {1, 1_000}
        assert world.content("notes/17") == bytes([17]) * 1_000


def test_strangers_and_hostile_requests(tmp_path):
    """Bad signatures, paths that climb, ranges without end, lists of a million: each has its answer, and nothing of the volume changes."""
    with Served(tmp_path, "--public") as world:
        process, s3 = world.s3()
        s3.put_object(Bucket="notes", Key="a", Body=b"hello")
        access, secret = process.keys
        assert code(client(process.ready, access, secret + "0").get_object, Bucket="notes", Key="a") == "SignatureDoesNotMatch"
        assert code(client(process.ready, "OTHER", secret).get_object, Bucket="notes", Key="a") == "InvalidAccessKeyId"
        host = process.ready.removeprefix("http://")
        for method, path in [("GET", "/notes/a"), ("PUT", "/notes/a"), ("DELETE", "/notes/a"), ("GET", "/"), ("POST", "/notes?delete")]:
            connection = http.client.HTTPConnection(host, timeout=30)
            connection.request(method, path, body=b"" if method in ("PUT", "POST") else None)
            assert connection.getresponse().status in (400, 403), f"{method} {path}"
            connection.close()
        # An address to put one file copies no other one there.
        place = s3.generate_presigned_url("put_object", Params={"Bucket": "notes", "Key": "b"}).removeprefix(process.ready)
        connection = http.client.HTTPConnection(host, timeout=30)
        connection.request("PUT", place, body=b"", headers={"x-amz-copy-source": "/notes/a"})
        assert connection.getresponse().status == 403
        connection.close()
        for key in ["../a", "a/../../b", "a//b", "a/", "x" * 65, "a b", "ä"]:
            assert code(s3.put_object, Bucket="notes", Key=key, Body=b"x") == "InvalidArgument", key
            assert code(s3.get_object, Bucket="notes", Key=key) == "NoSuchKey", key
        for span in ["bytes=5-", "bytes=9223372036854775806-9223372036854775807"]:
            assert code(s3.get_object, Bucket="notes", Key="a", Range=span) == "InvalidRange", span
        assert s3.get_object(Bucket="notes", Key="a", Range="bytes=0-9223372036854775807")["Body"].read() == b"hello"
        listed = s3.list_objects_v2(Bucket="notes", MaxKeys=1_000_000)
        assert (listed["MaxKeys"], listed["KeyCount"]) == (1_000, 1)
        assert code(s3.upload_part, Bucket="notes", Key="a", UploadId="none", PartNumber=1, Body=b"x") == "NoSuchUpload"
        assert world.content("notes/a") == b"hello" and world.sequence() == 1

        with pytest.raises(Refused, match="nothing is encrypted on the way"):
            world.run("volume", "serve", "memory", "--s3", "0.0.0.0:0")


def test_a_capability_bounds_what_is_served(tmp_path):
    """Who may read serves for reading, and pays for nothing else; credentials of a file are made once, for their owner alone."""
    with Served(tmp_path) as world:
        (tmp_path / "a.txt").write_text("a")
        world.run("volume", "put", "memory", tmp_path / "a.txt", "notes/")
        with pytest.raises(Refused, match="the volume belongs to"):
            world.run("volume", "serve", world.volume, "--s3", "127.0.0.1:0", account=5)
        reads = world.run("volume", "grant", "memory", "notes", world.accounts[5][0], "--mode", "r")["capability"]
        _, s3 = world.s3("--capability", reads, volume=world.volume, account=5)
        assert s3.get_object(Bucket="notes", Key="a.txt")["Body"].read() == b"a"
        assert code(s3.put_object, Bucket="notes", Key="a.txt", Body=b"b") == "AccessDenied"
        assert code(s3.delete_object, Bucket="notes", Key="a.txt") == "AccessDenied"

        # Without the key in this folder, it is not paid for before a use of it is refused.
        keys, away = tmp_path / ".cowboy" / "partitions", tmp_path / "away"
        keys.rename(away)
        balance = lambda: world.get(f"/account/{world.accounts[5][0]}")["balance"]
        before, mine = balance(), ("--capability", reads)
        put, rm = ("put", world.volume, tmp_path / "a.txt", "notes/"), ("rm", world.volume, "notes/a.txt")
        for refused, command in [("may not write to", put), ("may not delete", rm)]:
            with pytest.raises(Refused, match=refused):
                world.run("volume", *command, *mine, account=5)
        assert balance() == before
        away.rename(keys)

        file = tmp_path / "s3.ini"
        world.access("serve", "memory", "--s3", "127.0.0.1:0", "--credentials", file, "--read-only")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        made = file.read_text()
        process = world.access("serve", "memory", "--s3", "127.0.0.1:0", "--credentials", file, "--read-only")
        assert file.read_text() == made and made.splitlines()[2].split(" = ")[1] not in "".join(process.said)
        pair = [line.split(" = ")[1] for line in made.splitlines()[1:]]
        own = client(process.ready, *pair)
        assert own.get_object(Bucket="notes", Key="a.txt")["Body"].read() == b"a"
        assert code(own.put_object, Bucket="notes", Key="a.txt", Body=b"b") == "AccessDenied"


def test_a_server_whose_volume_is_handed_over(tmp_path):
    """Who has lost the right to write is told so, as is whoever reads what the server says; a public volume is still read."""
    with Served(tmp_path, "--public") as world:
        process, s3 = world.s3()
        s3.put_object(Bucket="notes", Key="a", Body=b"old")
        world.run("volume", "transfer", "memory", world.accounts[1][0], "--yes")
        for _ in range(2):
            assert code(s3.put_object, Bucket="notes", Key="a", Body=b"new") == "AccessDenied"
        assert process.errors.read_text().count("has lost its right") == 1
        assert s3.get_object(Bucket="notes", Key="a")["Body"].read() == b"old"


def test_a_server_that_is_killed(tmp_path):
    """kill -9 in the middle of a file: what was answered stands, the file has its old content, and nothing is left on the disk."""
    with Served(tmp_path, "--public") as world:
        spool = tmp_path / ".cowboy" / "spool"
        process, s3 = world.s3()
        assert stat.S_IMODE(spool.stat().st_mode) == 0o700
        (spool / "cowboy-spool-left").write_bytes(b"by a program that was killed while it made a file")
        s3.put_object(Bucket="notes", Key="a", Body=b"old")
        id = s3.create_multipart_upload(Bucket="notes", Key="a")["UploadId"]
        s3.upload_part(Bucket="notes", Key="a", UploadId=id, PartNumber=1, Body=b"n" * (5 << 20))

        signed = {"Bucket": "notes", "Key": "a", "UploadId": id, "PartNumber": 2}
        place = s3.generate_presigned_url("upload_part", Params=signed).removeprefix(process.ready)
        connection = http.client.HTTPConnection(process.ready.removeprefix("http://"), timeout=30)
        connection.putrequest("PUT", place)
        connection.putheader("content-length", str(40 << 20))
        connection.endheaders()
        for _ in range(20):
            connection.send(b"n" * (1 << 20))
        process.kill()
        with pytest.raises((OSError, http.client.HTTPException)):
            connection.send(b"n" * (20 << 20))
            connection.getresponse()
        assert [left.name for left in spool.iterdir()] == ["cowboy-spool-left"]
        assert world.content("notes/a") == b"old"
        _, s3 = world.s3()
        assert list(spool.iterdir()) == []
        assert s3.get_object(Bucket="notes", Key="a")["Body"].read() == b"old"
        assert code(s3.list_parts, Bucket="notes", Key="a", UploadId=id) == "NoSuchUpload"


@pytest.mark.skipif(shutil.which("rclone") is None, reason="left out: no rclone here (Debian package: rclone)")
def test_rclone_uses_a_volume(tmp_path):
    """rclone copies a folder, finds it unchanged, and removes it."""
    with Served(tmp_path, "--public") as world:
        process, _ = world.s3()
        named = {"TYPE": "s3", "PROVIDER": "Other", "ENDPOINT": process.ready, "REGION": "us-east-1"}
        named |= dict(zip(["ACCESS_KEY_ID", "SECRET_ACCESS_KEY"], process.keys, strict=True))
        # Settings of the computer's own for AWS are none of this server's.
        own = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        environment = own | {f"RCLONE_CONFIG_VOLUME_{name}": value for name, value in named.items()} | {"RCLONE_CONFIG": "/dev/null"}

        def rclone(*arguments):
            command = ["rclone", "--retries", "1", "--modify-window", "2ms", *map(str, arguments)]
            ended = subprocess.run(command, env=environment, capture_output=True, text=True)
            assert ended.returncode == 0, ended.stderr
            return ended.stdout

        source = tmp_path / "source"
        (source / "deep").mkdir(parents=True)
        for number in range(12):
            (source / "deep" / f"{number}.bin").write_bytes(os.urandom(1 + 40_000 * number))
        rclone("copy", source, "volume:notes")
        rclone("check", "--download", source, "volume:notes")
        assert world.content("notes/deep/3.bin") == (source / "deep" / "3.bin").read_bytes()
        before = world.sequence()
        rclone("copy", source, "volume:notes")
        assert world.sequence() == before, "nothing changed"
        rclone("delete", "volume:notes")
        assert world.run("volume", "ls", "memory", "notes") == []
        rclone("purge", "volume:notes")
        assert rclone("lsd", "volume:") == ""


class Mounted(Served):
    """A volume that is mounted as a folder."""

    def mount(self, *options):
        folder = self.folder / "mounted"
        folder.mkdir(exist_ok=True)
        return self.access("mount", "memory", folder, *options), folder


def shell(*command):
    return subprocess.run([*map(str, command)], check=True, capture_output=True).stdout


@pytest.mark.skipif(no_fuse() is not None, reason=f"left out: {no_fuse()}")
def test_a_mounted_folder_is_a_folder(tmp_path):
    """cp, cat, mv, dd at offsets and rm; Ctrl-C commits what is left; what another program put is there."""
    with Mounted(tmp_path, "--public") as world:
        (tmp_path / "other.txt").write_text("from elsewhere")
        world.run("volume", "put", "memory", tmp_path / "other.txt", "notes/")
        process, folder = world.mount()
        assert shell("cat", folder / "notes" / "other.txt") == b"from elsewhere"
        source = tmp_path / "source"
        (source / "deep").mkdir(parents=True)
        contents = {f"deep/{number}.bin": os.urandom(1 + 70_000 * number) for number in range(10)}
        for name, content in contents.items():
            (source / name).write_bytes(content)
        shell("cp", "-r", source / "deep", folder / "notes")
        for name, content in contents.items():
            assert shell("cat", folder / "notes" / name) == content
        target = folder / "notes" / "deep" / "9.bin"
        shell("dd", f"if={source / 'deep' / '1.bin'}", f"of={target}", "bs=1000", "seek=333", "count=20", "conv=notrunc,fsync")
        expected = bytearray(contents["deep/9.bin"])
        expected[333_000:353_000] = contents["deep/1.bin"][:20_000]
        assert world.content("notes/deep/9.bin") == bytes(expected), "fsync returns when it is committed"
        shell("mv", folder / "notes" / "deep" / "0.bin", folder / "notes" / "moved")
        assert world.content("notes/moved") == contents["deep/0.bin"]
        shell("mv", folder / "notes" / "deep", folder / "notes" / "deeper")
        shell("rm", folder / "notes" / "deeper" / "8.bin")
        shell("truncate", "-s", "10", folder / "notes" / "moved")
        with pytest.raises(OSError):
            (folder / "notes" / "a b").write_text("x")
        with pytest.raises(OSError):
            (folder / "notes" / ("x" * 65)).write_text("x")
        assert os.statvfs(folder).f_blocks * 4_096 == 50 << 20
        process.process.terminate()
        assert process.process.wait(60) == 0
        assert list(folder.iterdir()) == [], "it is not mounted any more"
        left = [row["path"] for row in world.run("volume", "ls", "memory", "notes")]
        assert left == sorted(["notes/moved", "notes/other.txt", *(f"notes/deeper/{number}.bin" for number in [*range(1, 8), 9])])
        assert world.content("notes/deeper/9.bin") == bytes(expected)


@pytest.mark.skipif(no_fuse() is not None, reason=f"left out: {no_fuse()}")
def test_a_mount_that_is_killed(tmp_path):
    """kill -9 while a file is written: it has its old content, what was synced stands, and the folder can be mounted again."""
    with Mounted(tmp_path, "--public") as world:
        process, folder = world.mount()
        (folder / "notes").mkdir()
        shell("dd", "if=/dev/zero", f"of={folder / 'notes' / 'a'}", "bs=100", "count=1", "conv=fsync")
        writing = open(folder / "notes" / "a", "r+b", buffering=0)
        writing.write(b"n" * 1_000_000)
        process.kill()
        with contextlib.suppress(OSError):
            writing.close()
        with pytest.raises(Refused, match="fix.*umount"):
            world.run("volume", "mount", "memory", folder)
        unmount = ["umount", "-l"] if os.geteuid() == 0 else [shutil.which("fusermount3") or "fusermount", "-uz"]
        shell(*unmount, folder)
        assert world.content("notes/a") == bytes(100)
        process, folder = world.mount("--read-only")
        assert (folder / "notes" / "a").read_bytes() == bytes(100)
        with pytest.raises(OSError):
            (folder / "notes" / "b").write_text("x")
        process.process.terminate()
        assert until("it ends", lambda: process.process.poll() is not None)


@pytest.mark.skipif(no_fuse() is not None, reason=f"left out: {no_fuse()}")
def test_a_removal_is_found_again(tmp_path):
    """A removal that an earlier mount left is done by the next one; a file that came in the place of another stays."""
    with Mounted(tmp_path, "--public") as world:
        _, s3 = world.s3()
        tags = [s3.put_object(Bucket="notes", Key=key, Body=key.encode())["ETag"].strip('"') for key in ["a", "b"]]

        def mounted(look=lambda notes: [path.name for path in notes.iterdir()]):
            process, folder = world.mount()
            found = look(folder / "notes")
            process.process.terminate()
            assert process.process.wait(60) == 0
            return found

        assert sorted(mounted()) == ["a", "b"]
        # Beside it is the file that mounts lock in turns.
        (journal,) = [path for path in (tmp_path / ".cowboy" / "removals").iterdir() if not path.name.endswith("lock")]
        assert stat.S_IMODE(journal.stat().st_mode) == 0o600
        journal.write_text(f"+ {tags[0]} notes/a\n+ {tags[0]} notes/b\n")
        served, _ = world.s3()
        assert "2 files, notes/a among them" in served.errors.read_text(), "who serves is told, and removes nothing"
        # What is to be removed is not shown, and what came in its place is.
        assert mounted() == ["b"]
        assert [row["path"] for row in world.run("volume", "ls", "memory", "notes")] == ["notes/b"]
        assert mounted() == ["b"] and journal.read_text() == ""


def test_numbers_are_served(tmp_path):
    """What is counted is there for Prometheus."""
    with Served(tmp_path, "--public") as world:
        process, s3 = world.s3("--metrics", "127.0.0.1:0")
        s3.put_object(Bucket="notes", Key="a", Body=b"a")
        said = process.errors.read_text().splitlines()
        place = next(line for line in said if line.startswith("metrics: ")).removeprefix("metrics: ")
        page = fetch(place).decode()
        for name in ["removals_waiting", "removal_failures_total", "commits_waiting", "commit_failures_total", "conflicts_total", "spool_bytes"]:
            assert f"\ncowboy_volume_{name} 0\n" in page
