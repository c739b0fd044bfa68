//! `cowboy image`: from a program to an image that the chain allows, and a job that may run it (003 §9, §12.2).

use crate::process::{Node, Said, cowboy};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, SystemTime},
};

/// Account 1 of every devnet.
const RUNNER: &str = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
const RUNNER_ADDRESS: &str = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
/// Account 0.
const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
/// A key of RFC 8032.
const RESULT_KEY: &str = "0xd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
/// Nobody listens here.
const NOWHERE: &str = "http://127.0.0.1:1";

/// Something that Linux takes for a program of amd64.
fn program() -> Vec<u8> {
    let mut head = vec![0; 128];
    head[..6].copy_from_slice(b"\x7fELF\x02\x01");
    head[18] = 62;
    head
}

fn write(root: &Path, name: &str, bytes: &[u8], mode: u32) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().expect("it has one")).expect("a directory");
    fs::write(&path, bytes).expect("it is writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is the test's own");
}

/// A root with a program and data, written in one order or the other, with other times and modes each time.
fn rootfs(root: &Path, turn: u64) {
    let mut files: Vec<(&str, Vec<u8>, u32)> =
        vec![("app", program(), 0o755), ("etc/a", b"a".to_vec(), 0o600), ("etc/b", b"b".to_vec(), 0o644), ("z", Vec::new(), 0o666)];
    if turn % 2 == 1 {
        files.reverse();
        files.iter_mut().for_each(|(_, _, mode)| *mode |= 0o020);
    }
    for (name, bytes, mode) in files {
        write(root, name, &bytes, mode);
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 * (turn + 1));
        fs::File::options().write(true).open(root.join(name)).and_then(|file| file.set_modified(time)).expect("set");
    }
    if turn == 1 && Command::new("id").arg("-u").output().is_ok_and(|said| said.stdout == b"0\n") {
        std::os::unix::fs::chown(root.join("etc/a"), Some(12_345), Some(54_321)).expect("root may give files away");
    }
}

fn done(said: Said) -> Said {
    assert_eq!(said.code, Some(0), "{said:?}");
    said
}

/// Packs the directory `name`, and answers what is printed.
fn packed(folder: &Path, name: &str, more: &[&str]) -> Value {
    let out = format!("{name}.tar");
    let arguments = [&["image", "pack", "--rootfs", name, "--entrypoint", "/app", "--out", &out, "--json"], more].concat();
    done(cowboy(folder, NOWHERE, &arguments)).json()
}

/// Two directories with the same files give the same bytes, whatever their times, owners and order are, and wherever they go.
#[test]
fn packing_is_reproducible() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let options = ["--env", "B=2", "--env", "A=1", "--cmd", "--all", "--workdir", "/etc"];
    let digests: Vec<Value> = (0..2)
        .map(|turn| {
            rootfs(&root.join(format!("root{turn}")), turn);
            packed(root, &format!("root{turn}"), &options)["digest"].clone()
        })
        .collect();
    assert_eq!(digests[0], digests[1]);
    let bytes = |name: &str| fs::read(root.join(name)).expect("it was written");
    assert!(bytes("root0.tar") == bytes("root1.tar"));
    let again = cowboy(root, NOWHERE, &["image", "pack", "--rootfs", "root0", "--out", "root0.tar", "--platform", "linux/amd64"]);
    assert!(again.code == Some(1) && again.stderr.contains("root0.tar exists"), "{again:?}");
    let other = packed(root, "root0", &["--force"]);
    assert_ne!(other["digest"], digests[0], "the config is a part of the image");

    let shown = done(cowboy(root, NOWHERE, &["image", "show", "root1.tar", "--json"])).json();
    let verified = done(cowboy(root, NOWHERE, &["image", "verify", "root1.tar", "--json"])).json();
    assert_eq!((&shown["is_verified"], &verified["is_verified"]), (&json!(false), &json!(true)));
    let platform = &verified["platforms"][0];
    assert_eq!((&platform["manifest"], &platform["env"]), (&digests[0], &json!(["B=2", "A=1"])));
    assert_eq!((&platform["entrypoint"], &platform["cmd"], &platform["workdir"]), (&json!(["/app"]), &json!(["--all"]), &json!("/etc")));
    let text = done(cowboy(root, NOWHERE, &["image", "verify", "root1.tar"])).stdout;
    assert!(text.contains("linux/amd64") && text.contains("/app --all") && text.starts_with("image     root1@sha256:"), "{text}");
}

/// What could not start, or is not an image, is refused with its reason, and nothing is written.
#[test]
fn wrong_images_are_refused() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    rootfs(&root.join("root"), 0);
    write(root, "root/plain", b"#!/bin/sh\n", 0o644);
    write(root, "root/script", b"#!/bin/python3\n", 0o755);
    write(root, "script", b"#!/bin/sh\n", 0o755);
    write(root, "app", &program(), 0o755);
    let pack = ["image", "pack", "--out", "new.tar"];
    let rows: &[(&[&str], i32, &str)] = &[
        (&["--rootfs", "root", "--entrypoint", "/none"], 1, "No such file"),
        (&["--rootfs", "root", "--entrypoint", "/plain"], 1, "it may not be executed"),
        (&["--rootfs", "root", "--entrypoint", "/script"], 1, "bin/python3 cannot be packed"),
        (&["--rootfs", "root", "--entrypoint", "app"], 1, "/usr/local/bin"),
        (&["--rootfs", "root", "--entrypoint", "/app", "--platform", "linux/arm64"], 2, "is for linux/amd64, and --platform says"),
        (&["--rootfs", "root", "--entrypoint", "/app", "--platform", "linux/arm"], 2, "not a platform of runners"),
        (&["--rootfs", "root", "--entrypoint", "/app", "--env", "A"], 1, "not NAME=value"),
        (&["--rootfs", "root", "--entrypoint", "/app", "--env", "COWBOY_A=1"], 2, "COWBOY_A is the runner's"),
        (&["--rootfs", "root", "--entrypoint", "/app", "--env", "A=1", "--env", "A=2"], 2, "--env has A twice"),
        (&["--rootfs", "root", "--entrypoint", "/app", "--workdir", "etc"], 1, "not absolute"),
        (&["--rootfs", "root"], 2, "nothing says which platform"),
        (&["--rootfs", "nowhere", "--platform", "linux/amd64"], 1, "nowhere"),
        (&["--program", "script"], 1, "not an ELF program"),
        (&["--program", "app", "--entrypoint", "/other"], 2, "/other would not be in the image"),
        (&["--program", "app", "--rootfs", "root"], 2, "cannot be used with"),
        (&[], 2, "required"),
    ];
    for (arguments, code, reason) in rows {
        let said = cowboy(root, NOWHERE, &[&pack[..], arguments].concat());
        assert_eq!((said.code, said.stdout.as_str()), (Some(*code), ""), "{arguments:?}: {said:?}");
        assert!(said.stderr.contains(reason), "{arguments:?}: no {reason:?} in {}", said.stderr);
        assert!(!root.join("new.tar").exists(), "{arguments:?}");
    }
    let left: Vec<_> = fs::read_dir(root).expect("it is there").map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");

    done(cowboy(root, NOWHERE, &["image", "pack", "--program", "app", "--out", "good.tar"]));
    damaged(root);
    let said = cowboy(root, NOWHERE, &["image", "verify", "script", "--json"]);
    let refused: Value = serde_json::from_str(&said.stderr).expect("with --json a failure is JSON too");
    assert!(refused["error"]["fix"].as_str().is_some_and(|fix| fix.contains("docker buildx")), "{said:?}");
    assert_eq!(cowboy(root, NOWHERE, &["image", "verify", "nowhere"]).code, Some(1));
}

/// Each damage of `good.tar` is named.
fn damaged(root: &Path) {
    let layout = root.join("layout");
    fs::create_dir(&layout).expect("a directory");
    let status = Command::new("tar").args(["-xf", "../good.tar"]).current_dir(&layout).status().expect("tar runs");
    assert!(status.success());
    let verify = |reason: &str| {
        let said = cowboy(root, NOWHERE, &["image", "verify", "layout"]);
        assert!(said.code == Some(1) && said.stderr.contains(reason) && said.stderr.contains("fix: "), "no {reason:?} in {said:?}");
    };
    assert_eq!(cowboy(root, NOWHERE, &["image", "verify", "layout"]).code, Some(0));
    let index: Value = serde_json::from_slice(&fs::read(layout.join("index.json")).expect("a file")).expect("JSON");
    let path = |digest: &Value| layout.join("blobs/sha256").join(digest.as_str().expect("a digest").trim_start_matches("sha256:"));
    let manifest_path = path(&index["manifests"][0]["digest"]);
    let manifest: Value = serde_json::from_slice(&fs::read(&manifest_path).expect("a file")).expect("JSON");
    let (config, layer) = (path(&manifest["config"]["digest"]), path(&manifest["layers"][0]["digest"]));
    for blob in [&manifest_path, &config, &layer] {
        let good = fs::read(blob).expect("a file");
        let mut bad = good.clone();
        let last = bad.len() - 2;
        bad[last] ^= 1;
        fs::write(blob, bad).expect("written");
        verify("was changed");
        fs::write(blob, &good[1..]).expect("written");
        verify(if *blob == layer { "and its descriptor says" } else { "was changed" });
        fs::remove_file(blob).expect("it is there");
        verify("is missing from layout");
        fs::write(blob, good).expect("written");
    }
    let mut archive = fs::read(root.join("good.tar")).expect("a file");
    archive.truncate(archive.len() / 2);
    fs::write(root.join("half.tar"), archive).expect("written");
    assert_eq!(cowboy(root, NOWHERE, &["image", "verify", "half.tar"]).code, Some(1));
    fs::write(layout.join("oci-layout"), "{}").expect("written");
    verify("oci-layout");
}

/// A registry in a process of its own, killed with this value.
struct Registry {
    child: Child,
    /// `127.0.0.1:PORT`.
    address: String,
}

impl Registry {
    /// Debian's; none where it is not installed.
    fn start(folder: &Path) -> Option<Self> {
        const CONFIG: &str =
            "version: 0.1\nlog: {level: info}\nstorage: {filesystem: {rootdirectory: storage}}\nhttp: {addr: \"127.0.0.1:0\"}\n";
        fs::write(folder.join("registry.yml"), CONFIG).expect("it is writable");
        let mut command = Command::new("docker-registry");
        command.args(["serve", "registry.yml"]).current_dir(folder);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().ok()?;
        let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines().map_while(Result::ok);
        let line = lines.find(|line| line.contains("listening on ")).expect("it says where it listens");
        // It never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        let (_, rest) = line.split_once("listening on ").expect("it has it");
        let address = rest.split(['"', ' ']).next().expect("an address").to_owned();
        Some(Self { child, address })
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A registry of Debian takes what is pushed, and gives the same bytes back. Where `docker-registry` is not installed, it says so and tests nothing.
#[test]
fn images_are_pushed_to_another_registry() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let Some(registry) = Registry::start(root) else {
        let _ = writeln!(std::io::stderr(), "left out: no docker-registry here (Debian package: docker-registry)");
        return;
    };
    let address = registry.address.clone();
    write(root, "app", &program(), 0o755);
    done(cowboy(root, NOWHERE, &["image", "pack", "--program", "app", "--out", "app.tar"]));
    let to = format!("oci://{address}/team/app:v1");
    let push = || done(cowboy(root, NOWHERE, &["image", "push", "app.tar", &to, "--json"])).json();
    let (first, second) = (push(), push());
    let pulled = {
        let from = format!("oci://{address}/team/app@{}", first["digest"].as_str().expect("a digest"));
        let said = done(cowboy(root, NOWHERE, &["image", "pull", &from, "--out", "pulled.tar", "--json"])).json();
        let tagged = cowboy(root, NOWHERE, &["image", "pull", &to, "--out", "other.tar"]);
        let none = cowboy(root, NOWHERE, &["image", "pull", &from.replace("/app@", "/none@"), "--out", "other.tar"]);
        (said, tagged, none)
    };
    drop(registry);
    assert_eq!(
        (&first["uploaded"], &first["present"], &second["uploaded"], &second["present"]),
        (&json!(2), &json!(0), &json!(0), &json!(2))
    );
    assert_eq!(first["source"], format!("oci://{address}/team/app"));
    assert_eq!(pulled.0["digest"], first["digest"]);
    assert_eq!(pulled.1.code, Some(2), "a tag is no image");
    assert!(pulled.2.code == Some(1) && pulled.2.stderr.contains("is missing from"), "{:?}", pulled.2);
    let verified = done(cowboy(root, NOWHERE, &["image", "verify", "pulled.tar", "--json"])).json();
    assert_eq!(verified["platforms"][0]["manifest"], first["digest"]);
    let plain = cowboy(root, NOWHERE, &["image", "push", "app.tar", "http://registry.test/app"]);
    assert!(plain.code == Some(2) && plain.stderr.contains("without TLS"), "{plain:?}");
    let gone = cowboy(root, NOWHERE, &["image", "push", "app.tar", &to]);
    assert!(gone.code == Some(1) && gone.stderr.contains("registry 127.0.0.1"), "{gone:?}");
}

/// On a dev chain an image is allowed by a command: then a job may run it, and no other one.
#[test]
fn an_allowed_image_is_one_that_jobs_may_run() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let node = Node::dev(root, &[]);
    let run = |key: &str, arguments: &[&str]| cowboy(root, &node.url, &[arguments, &["--private-key", key, "--json"]].concat());
    done(run(KEY, &["chain", "set-balance", RUNNER_ADDRESS, "20000cby"]));
    let declaration = json!({
        "result_key": RESULT_KEY, "kinds": ["container"], "max_concurrent": 4,
        "rates": { "compute_second": 1, "memory_mb": 1, "max_job_value": 5_000_000_000_000_u64 },
        "containers": { "cpu_millicores": 1_000, "memory_mib": 512, "scratch_mib": 1_024, "platforms": ["linux/amd64"], "volumes": false },
    });
    done(run(RUNNER, &["runner", "register", &declaration.to_string(), "--stake", "10000cby"]));
    assert_eq!(done(run(KEY, &["image", "list"])).json(), json!([]));
    assert_eq!(done(cowboy(root, &node.url, &["image", "list"])).stdout.trim(), "no image is allowed");

    write(root, "app", &program(), 0o755);
    let packed = done(run(KEY, &["image", "pack", "--program", "app", "--out", "app.tar"])).json();
    let image = packed["image"].as_str().expect("a name").to_owned();
    let submit = |image: &str| {
        let job = json!({
            "job_type": { "type": "Container", "image": image }, "bounds": {}, "timeout_blocks": 14_000, "tip": 500,
            "result_schema": { "max_return_bytes": 1_024, "expected_execution_ms": 1_000, "data_format": "" },
            "verification": { "mode": "none" }, "max_price": 50_000_000_000_u64,
        });
        run(KEY, &["job", "submit", &job.to_string()])
    };
    let refused = |said: Said| assert!(said.code == Some(1) && said.stderr.contains("image_not_allowed"), "{said:?}");
    refused(submit(&image));
    let allowed = done(run(KEY, &["image", "allow", "app.tar"])).json();
    assert_eq!((&allowed["image"], &allowed["allowed"]), (&json!(image), &json!(true)));
    let listed = done(run(KEY, &["image", "list"])).json();
    assert_eq!(
        (listed.as_array().map(Vec::len), &listed[0]["image"], &listed[0]["digest"]),
        (Some(1), &packed["image"], &packed["digest"])
    );
    assert!(done(cowboy(root, &node.url, &["image", "list"])).stdout.starts_with(&image));
    let job = done(submit(&image)).json();
    assert!(job["job_id"].is_string(), "{job}");
    let other = format!("app@sha256:{}", "ab".repeat(32));
    refused(submit(&other));

    // By its name alone, and in the order of digests.
    done(run(KEY, &["image", "allow", &other, "--name", "other"]));
    done(submit(&other));
    assert_eq!(done(run(KEY, &["image", "list"])).json().as_array().map(Vec::len), Some(2));
    done(run(KEY, &["image", "forbid", "app.tar"]));
    refused(submit(&image));
    let all = done(run(KEY, &["image", "list", "--all"])).json();
    let marks: Vec<(&Value, &Value)> = all.as_array().expect("a list").iter().map(|row| (&row["name"], &row["allowed"])).collect();
    assert!(marks.contains(&(&json!("app"), &json!(false))) && marks.contains(&(&json!("other"), &json!(true))), "{all}");
    assert_eq!(done(run(KEY, &["image", "list"])).json().as_array().map(Vec::len), Some(1));
    // A page of the chain has 64 rows.
    for number in 0..70_u8 {
        done(run(KEY, &["image", "allow", &format!("sha256:{}", format!("{number:02x}").repeat(32))]));
    }
    let all = done(run(KEY, &["image", "list"])).json();
    let digests: Vec<&str> = all.as_array().expect("a list").iter().filter_map(|row| row["digest"].as_str()).collect();
    assert!(digests.len() == 71 && digests.is_sorted(), "{digests:?}");
    let damaged = [&fs::read(root.join("app.tar")).expect("a file")[..], b"x"].concat();
    fs::write(root.join("bad.tar"), &damaged[..damaged.len() / 2]).expect("written");
    assert_eq!(run(KEY, &["image", "allow", "bad.tar"]).code, Some(1), "what runners refuse is not allowed");
    assert_eq!(run(KEY, &["image", "allow", "app@sha256:1"]).code, Some(2));
}
