//! What an image says about how its program starts.

use crate::{
    digest::Digest,
    documents::{ConfigDocument, Execution, decode},
    error::ImageError,
};
use std::fmt;

/// A platform that runners can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Platform {
    /// linux/amd64, without extensions of the processor.
    Amd64,
    /// linux/arm64.
    Arm64,
}

impl Platform {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Amd64, Self::Arm64];

    /// The one of this computer, if containers can run on it.
    #[must_use]
    pub const fn host() -> Option<Self> {
        match (cfg!(target_os = "linux"), cfg!(target_arch = "x86_64"), cfg!(target_arch = "aarch64")) {
            (true, true, _) => Some(Self::Amd64),
            (true, _, true) => Some(Self::Arm64),
            _ => None,
        }
    }

    /// The architecture's name in documents.
    #[must_use]
    pub const fn architecture(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }

    /// Whether it runs programs of this system, architecture and variant. Variants that need more than the first of the
    /// architecture are refused, because not every computer has them.
    pub(crate) fn runs(self, os: &str, architecture: &str, variant: Option<&str>) -> bool {
        let variants: &[&str] = match self {
            Self::Amd64 => &["", "v1"],
            Self::Arm64 => &["", "v8"],
        };
        os == "linux" && architecture == self.architecture() && variants.contains(&variant.unwrap_or_default())
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "linux/{}", self.architecture())
    }
}

/// What an image says about how its program starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// What it runs on.
    pub platform: Platform,
    /// The program, and its first arguments.
    pub entrypoint: Vec<String>,
    /// Arguments after the entrypoint, which a job may replace.
    pub command: Vec<String>,
    /// Variables, each name once, in the image's order.
    pub environment: Vec<(String, String)>,
    /// The directory in which the program starts: absolute.
    pub working_dir: String,
    /// The user that the image asks for, as it is written there. Runners ignore it.
    pub user: String,
    /// The signal that asks the program to end, as it is written there.
    pub stop_signal: Option<String>,
}

impl Config {
    /// One that starts nothing, in the root directory.
    #[must_use]
    pub fn new(platform: Platform) -> Self {
        Self {
            platform,
            entrypoint: Vec::new(),
            command: Vec::new(),
            environment: Vec::new(),
            working_dir: "/".into(),
            user: String::new(),
            stop_signal: None,
        }
    }

    /// The program and its arguments: the entrypoint, then the job's command, or the image's where the job has none.
    #[must_use]
    pub fn arguments(&self, command: &[String]) -> Vec<String> {
        let command = if command.is_empty() { &self.command } else { command };
        self.entrypoint.iter().chain(command).cloned().collect()
    }

    /// Reads a config of this platform, with the digests of the uncompressed layers.
    pub(crate) fn decode(bytes: &[u8], image: &Digest, platform: Platform) -> Result<(Self, Vec<Digest>), ImageError> {
        let document: ConfigDocument = decode("config", bytes)?;
        if !platform.runs(&document.os, &document.architecture, document.variant.as_deref()) {
            let offered = format!("{}/{}{}", document.os, document.architecture, document.variant.unwrap_or_default());
            return Err(ImageError::Platform { digest: *image, platform: platform.to_string(), offered });
        }
        if document.rootfs.kind != "layers" {
            return Err(refused(format!("the type of its rootfs is {:?}, and only \"layers\" is supported", document.rootfs.kind)));
        }
        Ok((Self::read(document.config.unwrap_or_default(), platform)?, document.rootfs.diff_ids.0))
    }

    fn read(execution: Execution, platform: Platform) -> Result<Self, ImageError> {
        let working_dir = execution.working_dir.filter(|path| !path.is_empty()).unwrap_or_else(|| "/".into());
        let user = execution.user.unwrap_or_default();
        let texts = [&working_dir, &user].into_iter().chain(&execution.stop_signal);
        if texts.chain(&execution.entrypoint.0).chain(&execution.cmd.0).chain(&execution.env.0).any(|text| text.contains('\0')) {
            return Err(refused("a text in it has a zero byte".into()));
        }
        if !working_dir.starts_with('/') {
            return Err(refused(format!("its working directory {working_dir:?} is not absolute")));
        }
        Ok(Self {
            platform,
            entrypoint: execution.entrypoint.0,
            command: execution.cmd.0,
            environment: variables(&execution.env.0)?,
            working_dir,
            user,
            stop_signal: execution.stop_signal,
        })
    }
}

/// Variables out of `NAME=value`; of several with one name the last is taken.
pub(crate) fn variables(texts: &[String]) -> Result<Vec<(String, String)>, ImageError> {
    let mut variables: Vec<(String, String)> = Vec::new();
    for text in texts {
        let (name, value) = text
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| refused(format!("{text:?} in its environment is not NAME=value")))?;
        variables.retain(|(other, _)| other != name);
        variables.push((name.into(), value.into()));
    }
    Ok(variables)
}

fn refused(reason: String) -> ImageError {
    ImageError::Document { what: "config", reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(config: &str) -> Result<Config, String> {
        let text = format!(r#"{{"os":"linux","architecture":"arm64","config":{config},"rootfs":{{"type":"layers","diff_ids":[]}}}}"#);
        Config::decode(text.as_bytes(), &Digest::of(b""), Platform::Arm64).map(|(config, _)| config).map_err(|error| error.to_string())
    }

    /// Fields may be missing or null; the last variable of a name counts.
    #[test]
    fn configs_have_defaults() {
        for config in
            ["null", "{}", r#"{"Env":null,"Cmd":null,"Entrypoint":null,"WorkingDir":"","User":"","Labels":null,"Volumes":{"/a":{}}}"#]
        {
            let read = read(config).expect("it is right");
            assert_eq!((read.working_dir.as_str(), read.entrypoint.len(), read.environment.len()), ("/", 0, 0));
        }
        let config = read(r#"{"Env":["A=1","B=","A=2=3"],"Entrypoint":["/app"],"Cmd":["x"],"WorkingDir":"/w"}"#).expect("it is right");
        assert_eq!(config.environment, [("B".into(), String::new()), ("A".into(), "2=3".into())]);
        assert_eq!(config.arguments(&[]), ["/app", "x"]);
        assert_eq!(config.arguments(&["y".into(), "z".into()]), ["/app", "y", "z"]);
    }

    #[test]
    fn configs_are_read_strictly() {
        let variables = |number: usize| format!(r#"{{"Env":[{}]}}"#, vec![r#""A=1""#; number].join(","));
        assert!(read(&variables(1_000)).is_ok());
        let cases = [
            (variables(1_001), "more than 1000 elements"),
            (variables(500_000), "more than 1000 elements"),
            (variables(1_000_000), "limit is 4194304"),
            (r#"{"Env":["A"]}"#.into(), "not NAME=value"),
            (r#"{"Env":["=A"]}"#.into(), "not NAME=value"),
            (r#"{"Env":["A=\u0000"]}"#.into(), "zero byte"),
            (r#"{"Cmd":["\u0000"]}"#.into(), "zero byte"),
            (r#"{"Cmd":"sh -c"}"#.into(), "a list of at most"),
            (r#"{"Cmd":[],"Cmd":[]}"#.into(), "duplicate field"),
            (r#"{"WorkingDir":"w"}"#.into(), "not absolute"),
        ];
        for (config, reason) in cases {
            let error = read(&config).expect_err("it is wrong");
            assert!(error.contains(reason), "{error}");
        }
    }

    /// Only what every computer of the architecture runs is taken.
    #[test]
    fn platforms_are_matched() {
        let cases = [
            (Platform::Amd64, "linux", "amd64", None, true),
            (Platform::Amd64, "linux", "amd64", Some("v1"), true),
            (Platform::Amd64, "linux", "amd64", Some("v3"), false),
            (Platform::Arm64, "linux", "arm64", Some("v8"), true),
            (Platform::Arm64, "linux", "arm", Some("v8"), false),
            (Platform::Amd64, "windows", "amd64", None, false),
            (Platform::Amd64, "unknown", "unknown", None, false),
        ];
        for (platform, os, architecture, variant, runs) in cases {
            assert_eq!(platform.runs(os, architecture, variant), runs, "{platform} {os}/{architecture}");
        }
    }
}
