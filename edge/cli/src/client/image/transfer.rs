//! Images in registries.

use super::{Credentials, Opened, Which, failure};
use crate::client::session::Session;
use cowboy_console::{amount, failure::Failure, output::table};
use cowboy_host::loopback;
use cowboy_image::{Digest, Limits, Platform, Registry, write_archive};
use reqwest::Url;
use serde_json::json;
use std::{path::Path, time::Duration};

/// How long a registry may be silent. While a layer is uploaded, it has nothing to say.
const PATIENCE: Duration = Duration::from_secs(3_600);

/// A place in a registry.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    /// The address of the repository for requests.
    url: String,
    /// The same as a job's `source` has it.
    source: String,
    /// What stands behind it: `:TAG` or `@DIGEST`.
    tag: Option<String>,
    digest: Option<Digest>,
    is_local: bool,
}

impl Place {
    fn parse(text: &str) -> Result<Self, Failure> {
        let wrong = |why: &str| {
            Failure::argument(
                format!("{text:?} is no address of an image: {why}"),
                "give oci://HOST/NAME, like oci://registry.example.com/team/app:v1",
            )
        };
        let (scheme, rest) = text.split_once("://").ok_or_else(|| wrong("it does not begin with oci://"))?;
        let (folder, last) = rest.rsplit_once('/').ok_or_else(|| wrong("it names no repository"))?;
        let (last, digest) = match last.split_once('@') {
            Some((last, digest)) => (last, Some(digest.parse::<Digest>().map_err(|error| wrong(&error.to_string()))?)),
            None => (last, None),
        };
        let (name, tag) = last.split_once(':').map_or((last, None), |(name, tag)| (name, Some(tag.to_owned())));
        let repository = format!("{folder}/{name}");
        let parsed = Url::parse(&format!("http://{repository}")).map_err(|error| wrong(&error.to_string()))?;
        let is_local = loopback::is_host(parsed.host_str().unwrap_or_default());
        let transport = match (scheme, is_local) {
            ("http", false) => return Err(wrong("without TLS, registries may only be on this computer")),
            ("http" | "oci", true) => "http",
            ("https" | "oci", _) => "https",
            _ => return Err(wrong("it does not begin with oci://")),
        };
        Ok(Self { url: format!("{transport}://{repository}"), source: format!("oci://{repository}"), tag, digest, is_local })
    }

    fn registry(&self, credentials: &Credentials) -> Result<Registry, Failure> {
        let mut client = Registry::client().read_timeout(PATIENCE);
        if self.is_local {
            client = client.no_proxy();
        }
        let client = client.build().map_err(|error| Failure::Node(error.to_string()))?;
        let registry = Registry::new(client, &self.url).map_err(failure)?;
        match (&credentials.user, &credentials.password_file) {
            (Some(user), Some(file)) => {
                let password = std::fs::read_to_string(file).map_err(Failure::file(file))?;
                Ok(registry.with_credentials(user, password.trim()))
            }
            _ => Ok(registry),
        }
    }
}

pub(super) async fn push(session: &Session, which: &Which, to: &str, credentials: &Credentials) -> Result<(), Failure> {
    let place = Place::parse(to)?;
    if place.digest.is_some() {
        return Err(Failure::argument("an image is pushed under its own digest", "give a tag, or nothing behind the name"));
    }
    let registry = place.registry(credentials)?;
    let Opened { layout, digest, _folder } = which.open()?;
    session.output.progress(format_args!("Pushing {digest} to {}.", place.source));
    let pushed = registry.push(&layout, &digest, place.tag.as_deref()).await.map_err(failure)?;
    let image = which.reference(&digest);
    let value = json!({
        "image": image, "digest": digest, "source": place.source, "tag": place.tag, "uploaded": pushed.uploaded, "present": pushed.present,
        "bytes": pushed.bytes,
    });
    let text = table([
        ("image", image),
        ("source", place.source),
        (
            "uploaded",
            format!(
                "{}, {}; there before: {}",
                amount::counted(pushed.uploaded, "blob"),
                amount::counted(pushed.bytes, "byte"),
                pushed.present
            ),
        ),
    ]);
    session.output.result(&value, text);
    Ok(())
}

pub(super) async fn pull(session: &Session, from: &str, out: &Path, platform: Platform, credentials: &Credentials) -> Result<(), Failure> {
    let place = Place::parse(from)?;
    let Some(digest) = place.digest else {
        return Err(Failure::argument("a tag may mean something else tomorrow", "give oci://HOST/NAME@sha256:…"));
    };
    let registry = place.registry(credentials)?;
    let folder = tempfile::tempdir().map_err(Failure::file(std::env::temp_dir()))?;
    session.output.progress(format_args!("Pulling {digest} from {}.", place.source));
    let layout =
        cowboy_image::pull(&registry, &digest, platform, Limits::default(), &folder.path().join("layout")).await.map_err(failure)?;
    write_archive(&layout, out).map_err(failure)?;
    let bytes = std::fs::metadata(out).map_err(Failure::file(out))?.len();
    let value = json!({ "digest": digest, "file": out, "bytes": bytes, "platform": platform.to_string() });
    session.output.result(
        &value,
        table([("digest", digest.to_string()), ("file", format!("{}, {}", out.display(), amount::counted(bytes, "byte")))]),
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TLS everywhere but on this computer; a tag or a digest behind the name, and never a port for a tag.
    #[test]
    fn addresses_are_read() {
        let digest = Digest::of(b"");
        let pinned = format!("oci://h.test/a@{digest}");
        for (text, url, tag, found) in [
            ("oci://h.test/team/app", "https://h.test/team/app", None, None),
            ("oci://h.test:5000/app:v1", "https://h.test:5000/app", Some("v1"), None),
            ("https://127.0.0.1:5000/app", "https://127.0.0.1:5000/app", None, None),
            ("oci://127.0.0.1:5000/app:v1", "http://127.0.0.1:5000/app", Some("v1"), None),
            ("http://localhost:5000/app", "http://localhost:5000/app", None, None),
            ("oci://[::1]:5000/app", "http://[::1]:5000/app", None, None),
            (&pinned, "https://h.test/a", None, Some(digest)),
        ] {
            let place = Place::parse(text).expect(text);
            assert_eq!((place.url.as_str(), place.tag.as_deref(), place.digest), (url, tag, found), "{text}");
            assert!(place.source.starts_with("oci://"));
        }
        for text in [
            "h.test/app",
            "oci://h.test",
            "http://h.test/app",
            "http://127.0.0.1.h.test/app",
            "ftp://localhost/a",
            "oci://h.test/a@sha256:1",
        ] {
            assert!(Place::parse(text).is_err(), "{text}");
        }
    }
}
