//! What a job says of its container (decisions 162 to 166): read once, by the chain at the submission and by runners.

use super::classes;
use super::hosts::hosts;
use super::refusal::Wrong;
use super::request::Request;
use cowboy_params::Containers;
use cowboy_types::Address;
use cowboy_types::Hash;
use cowboy_types::cbor::Value;
use cowboy_types::entitlement::domain;
use cowboy_types::job::{Capacity, JobKind, JobSpec, Resources};
use cowboy_types::units::Count;
use cowboy_volumes::{Mode, Name};
use std::collections::{BTreeMap, BTreeSet};

/// What separates an image's name from its digest.
const SEPARATOR: &str = "@sha256:";

/// Bytes of the command and the environment together, and of the input.
const TEXT_BYTES: usize = 65_536;

/// Arguments of a command, and variables of an environment.
const ITEMS: usize = 256;

/// The volumes of a job (decision 167).
const MOUNTS: usize = 4;

/// What the names of variables begin with that the runner sets.
pub const RESERVED: &str = "COWBOY_";

/// The platforms, each with its bit in a runner's record.
pub const PLATFORMS: [(&str, u8); 2] = [("linux/amd64", 1), ("linux/arm64", 2)];

/// Where an image comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Wherever the runner looks for images.
    Runner,
    /// A registry: its host, and the image's name there.
    Registry {
        /// The host, with a port where it has one.
        host: String,
        /// The name.
        name: String,
    },
    /// A public volume.
    Volume {
        /// Its id.
        id: Hash,
        /// Where it has an OCI image layout: a partition, and the folder in it.
        path: String,
    },
}

/// Where a container's result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// What it wrote to its standard output.
    Stdout,
    /// The file `/workspace/output`.
    File,
}

/// Which volume a job means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VolumeOf {
    /// The one that the submitter created under this name.
    Submitter(Name),
    /// The one with this id.
    Id(Hash),
}

/// A partition of a volume, which stands in a container at `/mnt/volumes/NAME` (decisions 166, 550).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The volume.
    pub volume: VolumeOf,
    /// What it is called in the container: the volume's name, where the job gives no other.
    pub name: Name,
    /// The partition.
    pub partition: Name,
    /// What the container may do.
    pub mode: Mode,
    /// Bytes of ciphertext that it may add.
    pub max_bytes: u64,
}

impl Mount {
    /// The volume's id, for a submitter.
    pub fn id(&self, submitter: Address) -> Hash {
        match &self.volume {
            VolumeOf::Submitter(name) => name.volume(submitter),
            VolumeOf::Id(id) => *id,
        }
    }
}

/// A job's container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerJob {
    /// The image's name, for people.
    pub name: String,
    /// The SHA-256 of its manifest, or of its index.
    pub digest: Hash,
    /// Where it comes from.
    pub source: Source,
    /// The command; empty for the image's own.
    pub command: Vec<String>,
    /// Variables of its environment.
    pub env: BTreeMap<String, String>,
    /// What it may use.
    pub resources: Resources,
    /// Bits of the platforms that it may run on.
    pub platforms: u8,
    /// The hosts that it may reach; none for no network.
    pub hosts: Vec<String>,
    /// Its standard input.
    pub stdin: Vec<u8>,
    /// Where its result is.
    pub output: Output,
    /// The volumes that it sees.
    pub mounts: Vec<Mount>,
}

impl ContainerJob {
    /// Reads what a submission says of its container.
    ///
    /// # Errors
    ///
    /// What the first field that is wrong has to be.
    pub fn read(request: &Request, rows: &Containers) -> Result<Self, Wrong> {
        let work = &request.work;
        let (name, digest) = image(work.get("image"))?;
        let job = Self {
            name,
            digest,
            source: source(work.get("source"))?,
            command: command(work.get("command"))?,
            env: env(work.get("env"))?,
            resources: resources(work, rows)?,
            platforms: platforms(work.get("platform"))?,
            hosts: hosts(work.get("network"))?,
            stdin: stdin(work.get("stdin"))?,
            output: output(work.get("output"))?,
            mounts: mounts(request)?,
        };
        let texts = job.command.iter().chain(job.env.keys()).chain(job.env.values());
        if texts.map(String::len).sum::<usize>() > TEXT_BYTES {
            return Err(Wrong { field: "command", rule: "command and env have at most 65,536 bytes together" });
        }
        Ok(job)
    }

    /// Refuses a network where several runners have to find the same (003 §12.2; decision 164), and volumes that several would write.
    ///
    /// # Errors
    ///
    /// If there is a network, and the job does not require a trusted environment; or if a volume is written.
    pub fn require_comparable(&self, spec: &JobSpec) -> Result<(), Wrong> {
        if !spec.verification.mode.is_single() && self.mounts.iter().any(|mount| mount.mode.writes()) {
            return Err(Wrong { field: "volumes", rule: "where several runners work, volumes are mounted r: one commit is one runner's" });
        }
        let may_differ = spec.verification.mode.is_single() || spec.verification.is_tee_required;
        if may_differ || self.hosts.is_empty() {
            return Ok(());
        }
        Err(Wrong { field: "network", rule: "where several runners work, it is none, unless the job requires a trusted environment" })
    }
}

/// Whether the runner alone sets the variable of this name.
pub fn is_reserved(name: &str) -> bool {
    name.starts_with(RESERVED)
}

/// Whether a text is printable, and no program reads another one in it.
fn is_plain(text: &str) -> bool {
    !text.contains('\0')
}

/// An image's name and digest: `name@sha256:` and 64 lowercase digits, because a tag may mean something else tomorrow.
fn image(value: Option<&Value>) -> Result<(String, Hash), Wrong> {
    let wrong = Wrong { field: "image", rule: "it is a name, @sha256: and the 64 lowercase hex digits of the manifest's digest" };
    let (name, digits) = value.and_then(Value::as_text).and_then(|image| image.split_once(SEPARATOR)).ok_or(wrong)?;
    let is_right = (1..=128).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_graphic())
        && digits.len() == 64
        && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !is_right {
        return Err(wrong);
    }
    let digest = format!("0x{digits}").parse().map_err(|_| wrong)?;
    Ok((name.to_owned(), digest))
}

fn source(value: Option<&Value>) -> Result<Source, Wrong> {
    let wrong = Wrong {
        field: "source",
        rule: "it is oci://HOST/NAME, or volume:ID/PATH with the 64 lowercase hex digits of a public volume's id; without it the runner takes the image from where it looks for images",
    };
    let Some(value) = value else { return Ok(Source::Runner) };
    let text = value.as_text().ok_or(wrong)?;
    if let Some(rest) = text.strip_prefix("volume:") {
        return volume_source(rest).ok_or(wrong);
    }
    let rest = text.strip_prefix("oci://").ok_or(wrong)?;
    let (authority, name) = rest.split_once('/').ok_or(wrong)?;
    let (host, port) = authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|number| number > 0 && number.to_string() == port));
    let is_part = |part: &str| {
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'_' | b'-');
        part.bytes().all(is_letter) && part.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
    };
    let is_name = name.len() <= 255 && name.split('/').all(is_part);
    if domain::is_canonical_host(host) && is_port && is_name {
        Ok(Source::Registry { host: authority.to_owned(), name: name.to_owned() })
    } else {
        Err(wrong)
    }
}

/// A layout in a volume: `ID/PATH`, where every blob's path is one of a volume.
fn volume_source(text: &str) -> Option<Source> {
    let (digits, path) = text.split_once('/')?;
    let is_hex = digits.len() == 64 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let id = is_hex.then(|| format!("0x{digits}").parse().ok())??;
    cowboy_volumes::Path::new(&blob_path(path, digits))?;
    Some(Source::Volume { id, path: path.to_owned() })
}

/// Where a layout in a volume has the blob with these 64 hex digits.
pub fn blob_path(layout: &str, digits: &str) -> String {
    format!("{layout}/blobs/sha256/{digits}")
}

fn command(value: Option<&Value>) -> Result<Vec<String>, Wrong> {
    let wrong = Wrong { field: "command", rule: "it is a list of at most 256 strings without NUL: the program and its arguments" };
    let items = match value {
        None => return Ok(Vec::new()),
        Some(Value::Array(items)) if items.len() <= ITEMS => items,
        Some(_) => return Err(wrong),
    };
    let text = |item: &Value| item.as_text().filter(|text| is_plain(text)).map(str::to_owned).ok_or(wrong);
    items.iter().map(text).collect()
}

fn env(value: Option<&Value>) -> Result<BTreeMap<String, String>, Wrong> {
    let wrong = Wrong {
        field: "env",
        rule: "it maps at most 256 names of letters, digits and _, none beginning with COWBOY_, to strings without NUL",
    };
    let pairs = match value {
        None => return Ok(BTreeMap::new()),
        Some(Value::Map(pairs)) if pairs.len() <= ITEMS => pairs,
        Some(_) => return Err(wrong),
    };
    let is_name = |name: &str| {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let begins = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
        (1..=128).contains(&name.len()) && begins && name.bytes().all(is_letter) && !is_reserved(name)
    };
    let pair = |(name, value): &(Value, Value)| {
        let name = name.as_text().filter(|name| is_name(name))?;
        Some((name.to_owned(), value.as_text().filter(|text| is_plain(text))?.to_owned()))
    };
    pairs.iter().map(|row| pair(row).ok_or(wrong)).collect()
}

/// What a container may use: a class by its name, or four numbers; the smallest class where the job says nothing.
fn resources(work: &BTreeMap<String, Value>, rows: &Containers) -> Result<Resources, Wrong> {
    let (class, asked) = (work.get("class"), work.get("resources"));
    let Some(asked) = asked else {
        let name = class.map_or(Some(classes::SMALLEST), Value::as_text);
        let unknown = Wrong { field: "class", rule: "it is small, medium or large" };
        return name.and_then(|name| classes::of(rows, name)).ok_or(unknown);
    };
    if class.is_some() {
        return Err(Wrong { field: "resources", rule: "a job names a class, or resources, but not both" });
    }
    let wrong = Wrong {
        field: "resources",
        rule: "they are {cpu_millicores, memory_mib, scratch_mib, max_duration_sec}: four numbers within the rows containers.*_max; memory from 4",
    };
    let Value::Map(pairs) = asked else { return Err(wrong) };
    let number = |name: &str, least: u64, most: u64| {
        asked.get(name).and_then(Value::as_u64).filter(|number| (least..=most).contains(number)).map(Count).ok_or(wrong)
    };
    let resources = Resources {
        cpu_millicores: number("cpu_millicores", 1, rows.cpu_max)?,
        memory_mib: number("memory_mib", 4, rows.memory_max)?,
        scratch_mib: number("scratch_mib", 1, rows.scratch_max)?,
        seconds: number("max_duration_sec", 1, rows.seconds_max)?,
    };
    if pairs.len() == 4 { Ok(resources) } else { Err(wrong) }
}

/// Whether what a runner gives to one container is enough for a job with these resources.
pub(crate) fn has_room(given: &Capacity, asked: &Resources, request: &Request) -> bool {
    let Ok(mounts) = mounts(request) else { return false };
    let files = asked.scratch_mib.0.saturating_add(written_mib(&mounts));
    let is_large = asked.cpu_millicores <= given.cpu_millicores && asked.memory_mib <= given.memory_mib && files <= given.scratch_mib.0;
    let runs = platforms(request.work.get("platform")).is_ok_and(|bits| bits & given.platforms != 0);
    let needs_volumes = !mounts.is_empty() || matches!(source(request.work.get("source")), Ok(Source::Volume { .. }));
    is_large && runs && (given.volumes || !needs_volumes)
}

/// Mebibytes of files that a container may write to its volumes. They are memory of its runner until they are kept.
pub fn written_mib(mounts: &[Mount]) -> u64 {
    let written = mounts.iter().filter(|mount| mount.mode.writes());
    written.map(|mount| mount.max_bytes.div_ceil(1 << 20)).fold(0, u64::saturating_add)
}

/// Whether a job is a container that writes volumes.
pub(crate) fn writes(request: &Request) -> bool {
    request.kind == JobKind::Container && mounts(request).is_ok_and(|mounts| mounts.iter().any(|mount| mount.mode.writes()))
}

fn platforms(value: Option<&Value>) -> Result<u8, Wrong> {
    let Some(value) = value else { return Ok(PLATFORMS.iter().fold(0, |bits, (_, bit)| bits | bit)) };
    let found = value.as_text().and_then(|name| PLATFORMS.iter().find(|(known, _)| *known == name));
    found.map(|(_, bit)| *bit).ok_or(Wrong { field: "platform", rule: "it is linux/amd64 or linux/arm64" })
}

fn stdin(value: Option<&Value>) -> Result<Vec<u8>, Wrong> {
    let bytes = match value {
        None => Some(Vec::new()),
        Some(Value::Text(text)) => Some(text.clone().into_bytes()),
        Some(Value::Bytes(bytes)) => Some(bytes.clone()),
        Some(_) => None,
    };
    bytes.filter(|bytes| bytes.len() <= TEXT_BYTES).ok_or(Wrong { field: "stdin", rule: "it is a string or bytes, at most 65,536" })
}

fn output(value: Option<&Value>) -> Result<Output, Wrong> {
    match value.map(Value::as_text) {
        None | Some(Some("stdout")) => Ok(Output::Stdout),
        Some(Some("file")) => Ok(Output::File),
        Some(_) => Err(Wrong { field: "output", rule: "it is stdout, or file for /workspace/output" }),
    }
}

/// The volumes that a container sees.
///
/// # Errors
///
/// If they are not a list of at most four, one of them is not `{volume, partition, mode}` with, maybe, `as` and `max_bytes`, or two have one name.
pub fn mounts(request: &Request) -> Result<Vec<Mount>, Wrong> {
    let wrong = Wrong {
        field: "volumes",
        rule: "it is a list of at most 4 {volume, partition, mode, as, max_bytes}: a name of the submitter's, or an id of 32 bytes with as; r, w or rw; max_bytes where it is written; each name once",
    };
    let items = match request.work.get("volumes") {
        None => return Ok(Vec::new()),
        Some(Value::Array(items)) if items.len() <= MOUNTS => items,
        Some(_) => return Err(wrong),
    };
    let mounts: Vec<Mount> = items.iter().map(mount).collect::<Option<_>>().ok_or(wrong)?;
    let names: BTreeSet<&Name> = mounts.iter().map(|mount| &mount.name).collect();
    if names.len() == mounts.len() { Ok(mounts) } else { Err(wrong) }
}

fn mount(item: &Value) -> Option<Mount> {
    let Value::Map(pairs) = item else { return None };
    let is_known =
        |(key, _): &(Value, Value)| key.as_text().is_some_and(|key| ["volume", "partition", "mode", "as", "max_bytes"].contains(&key));
    if !pairs.iter().all(is_known) {
        return None;
    }
    let name = |key: &str| item.get(key).map(|value| value.as_text().and_then(Name::new));
    let (volume, own) = match item.get("volume")? {
        Value::Bytes(id) => (VolumeOf::Id(Hash(id.as_slice().try_into().ok()?)), None),
        Value::Text(text) => (VolumeOf::Submitter(Name::new(text)?), Name::new(text)),
        _ => return None,
    };
    let name_inside = match name("as") {
        Some(name) => name?,
        None => own?,
    };
    let mode = Mode::of_letters(item.get("mode")?.as_text()?)?;
    let max_bytes = match item.get("max_bytes") {
        Some(value) => value.as_u64()?,
        // A right to read adds nothing; one to write says how much it may add.
        None if !mode.writes() => 0,
        None => return None,
    };
    Some(Mount { volume, name: name_inside, partition: name("partition")??, mode, max_bytes })
}
