//! The trusted environments that runners may declare.

/// The trusted environments, each with its bit.
pub const ENVIRONMENTS: [(&str, u8); 5] = [("sgx", 1), ("sev", 2), ("tdx", 4), ("nitro", 8), ("dev", 128)];

/// Whether a trusted environment has this name.
pub fn is_environment(name: &str) -> bool {
    ENVIRONMENTS.iter().any(|(known, _)| *known == name)
}
