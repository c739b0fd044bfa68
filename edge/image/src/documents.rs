//! The JSON documents of an image: index, manifest and config.
//!
//! They are read with limits and written with a fixed order of fields, so that the same image has the same digest everywhere.

use crate::{digest::Digest, error::ImageError};
use serde::de::{DeserializeOwned, Error as _, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::{collections::BTreeMap, fmt, marker::PhantomData};

/// The largest document, in bytes.
pub const MAX_DOCUMENT_BYTES: u64 = 4 << 20;
/// How deep arrays and objects of a document may nest.
pub const MAX_DEPTH: usize = 32;
/// How many layers an image may have.
pub const MAX_LAYERS: usize = 128;
/// How many variables, arguments and manifests a document may list.
pub const MAX_ITEMS: usize = 1_000;

pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";
pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub(crate) const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
pub(crate) const LAYER: &str = "application/vnd.oci.image.layer.v1.tar";
pub(crate) const REF_NAME: &str = "org.opencontainers.image.ref.name";
pub(crate) const INDEXES: [&str; 2] = [INDEX, "application/vnd.docker.distribution.manifest.list.v2+json"];
pub(crate) const MANIFESTS: [&str; 2] = [MANIFEST, "application/vnd.docker.distribution.manifest.v2+json"];
pub(crate) const CONFIGS: [&str; 2] = [CONFIG, "application/vnd.docker.container.image.v1+json"];

/// A list of at most `MAX` elements; `null` is an empty list, as some builders write it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct List<T, const MAX: usize>(pub(crate) Vec<T>);

impl<T, const MAX: usize> Default for List<T, MAX> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for List<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Elements(PhantomData))
    }
}

struct Elements<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for Elements<T, MAX> {
    type Value = List<T, MAX>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a list of at most {MAX} elements")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(List::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while elements.len() < MAX {
            match access.next_element()? {
                Some(element) => elements.push(element),
                None => return Ok(List(elements)),
            }
        }
        match access.next_element::<IgnoredAny>()? {
            None => Ok(List(elements)),
            Some(_) => Err(A::Error::custom(format_args!("a list has more than {MAX} elements, which is the limit"))),
        }
    }
}

/// A reference to a blob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Descriptor {
    pub(crate) media_type: String,
    pub(crate) digest: Digest,
    pub(crate) size: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) platform: Option<PlatformDocument>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) annotations: Option<BTreeMap<String, String>>,
}

/// What a manifest of an index is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlatformDocument {
    pub(crate) architecture: String,
    pub(crate) os: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) variant: Option<String>,
}

/// An index or a manifest: both have the same fields here, so that a document that is both is noticed.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Document {
    schema_version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    config: Option<Descriptor>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    layers: Option<List<Descriptor, MAX_LAYERS>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    manifests: Option<List<Descriptor, MAX_ITEMS>>,
}

/// What a digest of an image names.
#[derive(Debug)]
pub(crate) enum Named {
    Index(Vec<Descriptor>),
    Manifest(Manifest),
}

/// The parts of one image.
#[derive(Clone, Debug)]
pub(crate) struct Manifest {
    pub(crate) config: Descriptor,
    pub(crate) layers: Vec<Descriptor>,
}

impl Document {
    pub(crate) fn index(manifests: Vec<Descriptor>) -> Self {
        Self { schema_version: 2, media_type: Some(INDEX.into()), config: None, layers: None, manifests: Some(List(manifests)) }
    }

    pub(crate) fn manifest(config: Descriptor, layers: Vec<Descriptor>) -> Self {
        Self { schema_version: 2, media_type: Some(MANIFEST.into()), config: Some(config), layers: Some(List(layers)), manifests: None }
    }
}

impl Named {
    /// An index or a manifest; nothing that can be read as both.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, ImageError> {
        const WHAT: &str = "manifest or index";
        let document: Document = decode(WHAT, bytes)?;
        let refused = |reason: &str| Err(ImageError::Document { what: WHAT, reason: reason.into() });
        if document.schema_version != 2 {
            return refused(&format!("its schemaVersion is {}, and only 2 is supported", document.schema_version));
        }
        let (named, types) = match (document.manifests, document.config, document.layers) {
            (Some(manifests), None, None) => (Self::Index(manifests.0), INDEXES),
            (None, Some(config), Some(layers)) => (Self::Manifest(Manifest { config, layers: layers.0 }), MANIFESTS),
            _ => return refused("it has to have either manifests, or a config and layers"),
        };
        match document.media_type {
            Some(media_type) if !types.contains(&media_type.as_str()) => refused("its mediaType is of another kind of document"),
            _ => Ok(named),
        }
    }
}

/// What an image says about itself.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ConfigDocument {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) created: Option<String>,
    pub(crate) architecture: String,
    pub(crate) os: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) variant: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) config: Option<Execution>,
    pub(crate) rootfs: RootFs,
}

/// How the image's program starts.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Execution {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<String>,
    #[serde(default, skip_serializing_if = "is_empty")]
    pub(crate) env: List<String, MAX_ITEMS>,
    #[serde(default, skip_serializing_if = "is_empty")]
    pub(crate) entrypoint: List<String, MAX_ITEMS>,
    #[serde(default, skip_serializing_if = "is_empty")]
    pub(crate) cmd: List<String, MAX_ITEMS>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) working_dir: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stop_signal: Option<String>,
}

fn is_empty<T, const MAX: usize>(list: &List<T, MAX>) -> bool {
    list.0.is_empty()
}

/// The digests of the uncompressed layers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RootFs {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) diff_ids: List<Digest, MAX_LAYERS>,
}

/// Reads a document, within the limits of its length and depth.
pub(crate) fn decode<T: DeserializeOwned>(what: &'static str, bytes: &[u8]) -> Result<T, ImageError> {
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if size > MAX_DOCUMENT_BYTES {
        return Err(ImageError::LargeDocument { what, size, limit: MAX_DOCUMENT_BYTES });
    }
    if depth(bytes) > MAX_DEPTH {
        return Err(ImageError::Document { what, reason: format!("it nests deeper than {MAX_DEPTH}, which is the limit") });
    }
    serde_json::from_slice(bytes).map_err(|error| ImageError::Document { what, reason: error.to_string() })
}

/// The bytes of a document.
pub(crate) fn encode(document: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(document).expect("documents have texts as keys, and nothing in them fails to encode")
}

/// How deep the arrays and objects of a JSON text nest. A text that is not JSON has some depth, too, and fails later.
fn depth(bytes: &[u8]) -> usize {
    let (mut open, mut deepest, mut is_text, mut is_escaped) = (0_usize, 0, false, false);
    for byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'[' | b'{' if !is_text => {
                open += 1;
                deepest = deepest.max(open);
            }
            b']' | b'}' if !is_text => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn refused(text: &str) -> Option<String> {
        Named::decode(text.as_bytes()).err().map(|error| error.to_string())
    }

    fn descriptor(size: &str) -> String {
        format!(r#"{{"mediaType":"a/b","digest":"{DIGEST}","size":{size}}}"#)
    }

    /// A document is an index or a manifest, never both, of version 2, with sizes that are natural numbers.
    #[test]
    fn documents_are_read_strictly() {
        let good = descriptor("1");
        let manifest = |fields: &str| format!(r#"{{"schemaVersion":2,"config":{good},"layers":[]{fields}}}"#);
        assert_eq!(refused(&manifest("")), None);
        assert_eq!(refused(&manifest(r#","unknown":[1,{"a":null}]"#)), None, "the specification wants unknown fields ignored");
        let cases = [
            (manifest(r#","manifests":[]"#), "either manifests, or a config"),
            (manifest(&format!(r#","mediaType":"{INDEX}""#)), "another kind"),
            (manifest(r#","layers":[]"#), "duplicate field"),
            (manifest("").replace(":2", ":1"), "schemaVersion is 1"),
            (manifest("").replace(":2,", ":2.0,"), "invalid type"),
            (manifest("") + "x", "trailing characters"),
            (r#"{"schemaVersion":2,"manifests":null}"#.into(), "either manifests, or a config"),
            (r#"{"schemaVersion":2,"layers":[]}"#.into(), "either manifests, or a config"),
            (format!(r#"{{"schemaVersion":2,"manifests":[{}]}}"#, descriptor("-1")), "invalid value"),
            (format!(r#"{{"schemaVersion":2,"manifests":[{}]}}"#, descriptor("1e3")), "invalid type"),
            (format!(r#"{{"schemaVersion":2,"manifests":[{}]}}"#, descriptor("1").replace("sha256", "md5")), "is not a digest"),
            ("\u{0}".into(), "expected value"),
            (String::new(), "EOF"),
        ];
        for (text, reason) in cases {
            let error = refused(&text).unwrap_or_default();
            assert!(error.contains(reason), "{text}: {error:?}");
        }
    }

    /// Limits hold at their values: length, depth, layers and elements.
    #[test]
    fn documents_have_limits() {
        let layers = |number: usize| {
            format!(r#"{{"schemaVersion":2,"config":{0},"layers":[{1}]}}"#, descriptor("1"), vec![descriptor("1"); number].join(","))
        };
        assert_eq!(refused(&layers(MAX_LAYERS)), None);
        assert!(refused(&layers(MAX_LAYERS + 1)).is_some_and(|error| error.contains("more than 128 elements")));
        let manifests = |number: usize| format!(r#"{{"schemaVersion":2,"manifests":[{}]}}"#, vec![descriptor("1"); number].join(","));
        assert_eq!(refused(&manifests(MAX_ITEMS)), None);
        assert!(refused(&manifests(MAX_ITEMS + 1)).is_some_and(|error| error.contains("more than 1000 elements")));

        let nested = |depth: usize| format!(r#"{{"schemaVersion":2,"manifests":[],"x":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
        assert_eq!(refused(&nested(MAX_DEPTH - 1)), None);
        for depth in [MAX_DEPTH, 10_000, 1_000_000] {
            assert!(refused(&nested(depth)).is_some_and(|error| error.contains("deeper than 32")), "{depth}");
        }
        let brackets = format!(r#"{{"schemaVersion":2,"manifests":[],"x":"\"{}"}}"#, "[{".repeat(100));
        assert_eq!(refused(&brackets), None, "brackets in texts do not nest");

        let padded = |length: usize| {
            let mut text = r#"{"schemaVersion":2,"manifests":[]}"#.to_owned();
            text.extend(std::iter::repeat_n(' ', length - text.len()));
            text
        };
        assert_eq!(refused(&padded(4 << 20)), None);
        assert!(refused(&padded((4 << 20) + 1)).is_some_and(|error| error.contains("limit is 4194304")));
    }
}
