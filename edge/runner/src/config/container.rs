//! How a runner executes containers.

use super::ConfigError;
use cowboy_container::Limits;
use cowboy_system::offchain::container::PLATFORMS;
use cowboy_types::entitlement::domain;
use serde::Deserialize;
use std::path::PathBuf;

/// How a runner executes containers. One container may have all that is given, and all containers that run at the same time share it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Container {
    /// Thousandths of a processor.
    pub cpu_millicores: u32,
    /// Mebibytes of memory for programs.
    pub memory_mib: u32,
    /// Mebibytes of files that programs write. They are memory too.
    pub scratch_mib: u32,
    /// Directories with OCI image layouts. Images without a source are looked up here first.
    pub layouts: Vec<PathBuf>,
    /// Registries from which images may come, like `ghcr.io` or `registry.example.com:5000`; with `http://` before it, one without TLS. Images
    /// without a source are looked up here by their name, after the layouts.
    pub registries: Vec<String>,
    /// The folder of the unpacked images, which no other runner uses. Absent: `images` in the runner's `state`.
    pub cache: Option<PathBuf>,
    /// Mebibytes that they may take.
    pub cache_mib: u64,
    /// Mebibytes that the volumes of all running containers may have, which are fetched to the disk before they start. 0: this runner mounts no volumes.
    pub volumes_mib: u64,
}

impl Default for Container {
    fn default() -> Self {
        Self {
            cpu_millicores: 1_000,
            memory_mib: 512,
            scratch_mib: 2_048,
            layouts: Vec::new(),
            registries: Vec::new(),
            cache: None,
            cache_mib: 20_480,
            volumes_mib: 4_096,
        }
    }
}

impl Container {
    /// Checks every value that types do not.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let wrong = |field: &'static str, value: String, reason: &'static str| Err(ConfigError::Value { field, value, reason });
        let rows = [
            ("container.cpu_millicores", self.cpu_millicores, Limits::MIN_MILLICORES, "from 10 to 1000000"),
            ("container.memory_mib", self.memory_mib, Limits::MIN_MEMORY_MIB, "from 8 to 1000000"),
            ("container.scratch_mib", self.scratch_mib, 1, "from 1 to 1000000"),
        ];
        if let Some((field, value, _, reason)) = rows.into_iter().find(|(_, value, least, _)| !(least..=&1_000_000).contains(&value)) {
            return wrong(field, value.to_string(), reason);
        }
        if self.layouts.is_empty() && self.registries.is_empty() && self.volumes_mib == 0 {
            return wrong("container.layouts", "[]".into(), "images come from somewhere: name a layout, or one of container.registries");
        }
        match self.registries.iter().find(|entry| registry(entry).is_none()) {
            Some(entry) => wrong("container.registries", entry.clone(), "a host in lower case, like ghcr.io, with a port where it has one"),
            None => Ok(()),
        }
    }

    /// The hosts of the registries, without ports.
    pub(crate) fn registry_hosts(&self) -> Vec<String> {
        self.registries.iter().filter_map(|entry| registry(entry)).map(|(_, authority)| host_of(authority).to_owned()).collect()
    }
}

/// The platform of this computer, with its bit in a runner's record; none where containers have no such platform.
pub(crate) fn own_platform() -> Option<(&'static str, u8)> {
    let name = match std::env::consts::ARCH {
        "x86_64" => "linux/amd64",
        "aarch64" => "linux/arm64",
        _ => return None,
    };
    PLATFORMS.into_iter().find(|(known, _)| *known == name)
}

/// The scheme of a registry, and its host with its port; none where the entry is no registry.
pub(crate) fn registry(entry: &str) -> Option<(&'static str, &str)> {
    let (scheme, authority) = entry.strip_prefix("http://").map_or(("https", entry), |authority| ("http", authority));
    let port = authority.split_once(':').map(|(_, port)| port);
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|number| number > 0 && number.to_string() == port));
    (domain::is_canonical_host(host_of(authority)) && is_port).then_some((scheme, authority))
}

fn host_of(authority: &str) -> &str {
    authority.split(':').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registries_are_hosts() {
        let rows = [
            ("ghcr.io", Some(("https", "ghcr.io"))),
            ("registry.example.com:5000", Some(("https", "registry.example.com:5000"))),
            ("http://127.0.0.1:5000", Some(("http", "127.0.0.1:5000"))),
            ("https://ghcr.io", None),
            ("ghcr.io/name", None),
            ("GHCR.io", None),
            ("ghcr.io:", None),
            ("ghcr.io:0", None),
            ("ghcr.io:05", None),
            ("ghcr.io:1:2", None),
            ("", None),
        ];
        for (entry, expected) in rows {
            assert_eq!(registry(entry), expected, "{entry}");
        }
    }

    #[test]
    fn settings_are_checked() {
        let right = Container { layouts: vec!["images".into()], ..Container::default() };
        assert!(right.check().is_ok());
        assert!(Container { layouts: Vec::new(), ..right.clone() }.check().is_ok(), "images of public volumes");
        let rows = [
            (Container { layouts: Vec::new(), volumes_mib: 0, ..right.clone() }, "container.layouts"),
            (Container { cpu_millicores: Limits::MIN_MILLICORES - 1, ..right.clone() }, "container.cpu_millicores"),
            (Container { memory_mib: Limits::MIN_MEMORY_MIB - 1, ..right.clone() }, "container.memory_mib"),
            (Container { scratch_mib: 0, ..right.clone() }, "container.scratch_mib"),
            (Container { registries: vec!["*.io".into()], ..right }, "container.registries"),
        ];
        for (settings, field) in rows {
            let error = settings.check().expect_err(field).to_string();
            assert!(error.starts_with(field), "{error}");
            let said = [("container.cpu_millicores", Limits::MIN_MILLICORES), ("container.memory_mib", Limits::MIN_MEMORY_MIB)];
            for (_, least) in said.into_iter().filter(|(of, _)| *of == field) {
                assert!(error.contains(&format!("from {least} to")), "{error}");
            }
        }
    }
}
