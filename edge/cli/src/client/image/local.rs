//! Images on this computer.

use super::{Opened, Pack, Which, failure, name_of};
use crate::client::session::Session;
use cowboy_console::{failure::Failure, output::table, pairs};
use cowboy_image::{
    Config, Contents, Described, Limits, PROGRAM_PATH, Platform, describe, entrypoint_platform, environment, program_platform,
    write_archive,
};
use serde_json::{Value, json};
use std::path::Path;

/// The name in the layout's index: that of the file is for people, and must not change the bytes.
const TAG: &str = "latest";
/// Where a program without `/` is looked up in an image that does not say where.
const SEARCH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Variables that runners set.
const RESERVED: &str = "COWBOY_";

pub(super) fn pack(session: &Session, pack: &Pack) -> Result<(), Failure> {
    if pack.out.exists() && !pack.force {
        return Err(Failure::refused(format!("{} exists", pack.out.display()), "choose another name, or replace it with --force"));
    }
    let config = config(pack)?;
    let contents = match (&pack.program, &pack.rootfs) {
        (Some(program), _) => Contents::Program(program),
        (None, Some(rootfs)) => Contents::Directory(rootfs),
        (None, None) => unreachable!("one of them is required"),
    };
    // Beside the file, where there is room for it.
    let beside = pack.out.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = tempfile::tempdir_in(beside).map_err(Failure::file(beside))?;
    let (layout, digest) = cowboy_image::pack(contents, &config, TAG, &folder.path().join("layout")).map_err(failure)?;
    let written = folder.path().join("archive");
    write_archive(&layout, &written).map_err(failure)?;
    let bytes = std::fs::metadata(&written).map_err(Failure::file(&written))?.len();
    std::fs::rename(&written, &pack.out).map_err(Failure::file(&pack.out))?;
    let image = format!("{}@{digest}", name_of(&pack.out));
    let starts = starts(&describe(&layout, &digest).map_err(failure)?);
    let value = json!({
        "image": image, "digest": digest, "file": pack.out, "bytes": bytes, "platform": config.platform.to_string(), "starts": starts,
    });
    let text = table([
        ("image", image),
        ("file", format!("{}, {bytes} bytes", pack.out.display())),
        ("platform", config.platform.to_string()),
        ("starts", starts.join(" ")),
    ]);
    session.output.result(&value, text);
    Ok(())
}

fn starts(described: &[Described]) -> Vec<String> {
    described.first().map(|one| one.config.arguments(&[])).unwrap_or_default()
}

fn config(pack: &Pack) -> Result<Config, Failure> {
    let environment = environment(&pack.env).map_err(failure)?;
    pairs::once("--env", pack.env.iter().filter_map(|text| Some(pairs::pair(text)?.0)))?;
    if let Some((name, _)) = environment.iter().find(|(name, _)| name.starts_with(RESERVED)) {
        return Err(Failure::argument(format!("the variable {name} is the runner's"), format!("take a name without {RESERVED} before it")));
    }
    let path = environment.iter().find(|(name, _)| name == "PATH").map_or(SEARCH, |(_, path)| path);
    let search: Vec<&str> = path.split(':').collect();
    let found = match (&pack.program, &pack.rootfs, pack.entrypoint.iter().chain(&pack.cmd).next()) {
        (Some(program), ..) => Some(program_platform(program).map_err(failure)?),
        (None, Some(root), Some(first)) if !pack.unchecked => Some(entrypoint_platform(root, first, &search).map_err(failure)?),
        _ => None,
    };
    let config = Config {
        entrypoint: entrypoint(pack)?,
        command: pack.cmd.clone(),
        environment,
        working_dir: pack.workdir.clone(),
        ..Config::new(chosen(found, pack.platform)?)
    };
    Ok(config)
}

fn entrypoint(pack: &Pack) -> Result<Vec<String>, Failure> {
    match (&pack.program, pack.entrypoint.first()) {
        (Some(_), Some(first)) if first != PROGRAM_PATH => {
            let what = format!("{first} would not be in the image: the program is {PROGRAM_PATH}");
            Err(Failure::argument(what, "leave --entrypoint out, or begin it with /app"))
        }
        _ => Ok(pack.entrypoint.clone()),
    }
}

fn chosen(found: Option<Platform>, given: Option<Platform>) -> Result<Platform, Failure> {
    match (found, given) {
        (Some(found), Some(given)) if found != given => {
            let what = format!("the program is for {found}, and --platform says {given}");
            Err(Failure::argument(what, "leave --platform out, or build the program for it"))
        }
        (Some(platform), _) | (None, Some(platform)) => Ok(platform),
        (None, None) => Err(Failure::argument("nothing says which platform the image is for", "give --entrypoint or --platform")),
    }
}

pub(super) fn verify(session: &Session, which: &Which) -> Result<(), Failure> {
    let Opened { layout, digest, _folder } = which.open()?;
    let verified = cowboy_image::verify(&layout, &digest, Limits::default()).map_err(failure)?;
    let platforms: Vec<(&Described, Option<u64>)> = verified.iter().map(|one| (&one.described, Some(one.unpacked))).collect();
    print(session, &which.reference(&digest), &platforms);
    Ok(())
}

pub(super) fn show(session: &Session, which: &Which) -> Result<(), Failure> {
    let Opened { layout, digest, _folder } = which.open()?;
    let described = describe(&layout, &digest).map_err(failure)?;
    let platforms: Vec<(&Described, Option<u64>)> = described.iter().map(|one| (one, None)).collect();
    print(session, &which.reference(&digest), &platforms);
    Ok(())
}

fn print(session: &Session, image: &str, platforms: &[(&Described, Option<u64>)]) {
    let value = |(one, unpacked): &(&Described, Option<u64>)| {
        let environment: Vec<String> = one.config.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
        json!({
            "platform": one.config.platform.to_string(), "manifest": one.manifest, "layers": one.layers, "compressed": one.compressed,
            "unpacked": unpacked, "entrypoint": one.config.entrypoint, "cmd": one.config.command, "env": environment,
            "workdir": one.config.working_dir, "user": one.config.user,
        })
    };
    let values: Vec<Value> = platforms.iter().map(value).collect();
    let lines: Vec<String> = platforms.iter().map(|(one, unpacked)| text(image, one, *unpacked)).collect();
    session.output.result(
        &json!({ "image": image, "is_verified": platforms.iter().all(|(_, unpacked)| unpacked.is_some()), "platforms": values }),
        lines.join("\n"),
    );
}

fn text(image: &str, one: &Described, unpacked: Option<u64>) -> String {
    let unpacked = unpacked.map(|bytes| format!(", {bytes} unpacked")).unwrap_or_default();
    let mut rows = vec![
        ("image", image.to_owned()),
        ("platform", one.config.platform.to_string()),
        ("manifest", one.manifest.to_string()),
        ("layers", format!("{}, {} bytes{unpacked}", one.layers, one.compressed)),
        ("starts", one.config.arguments(&[]).join(" ")),
        ("in", one.config.working_dir.clone()),
    ];
    rows.extend(one.config.environment.iter().map(|(name, value)| ("env", format!("{name}={value}"))));
    if !one.config.user.is_empty() {
        rows.push(("user", format!("{}, which runners ignore", one.config.user)));
    }
    table(rows)
}
