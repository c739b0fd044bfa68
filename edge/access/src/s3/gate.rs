//! Who is let in: requests that are signed with the one pair of credentials, by the fourth version of AWS's signatures.

use async_trait::async_trait;
use cowboy_console::failure::Failure;
use cowboy_host::files;
use hyper::HeaderMap;
use s3s::access::{S3Access, S3AccessContext};
use s3s::auth::{S3Auth, SecretKey};
use s3s::{S3Result, s3_error};
use std::io;
use std::path::Path;

/// What clients sign with.
#[derive(Clone)]
pub(super) struct Credentials {
    pub(super) access_key: String,
    pub(super) secret_key: String,
}

/// The field of the file with the name of the key.
const ACCESS: &str = "aws_access_key_id";

/// The field of the file with the key.
const SECRET: &str = "aws_secret_access_key";

/// The fewest characters of a key that is taken from a file.
const SHORTEST: usize = 16;

impl Credentials {
    /// New ones.
    fn random() -> Result<Self, Failure> {
        let mut bytes = [0; 30];
        getrandom::fill(&mut bytes).map_err(Failure::no_random)?;
        let (name, key) = bytes.split_at(8);
        Ok(Self { access_key: format!("COWBOY{}", hex::encode_upper(name)), secret_key: hex::encode(key) })
    }

    /// Those of a file in the format of AWS. It is made where it is missing, and refused where others may read it.
    pub(super) fn load(file: Option<&Path>) -> Result<Self, Failure> {
        let Some(file) = file else { return Self::random() };
        let Some(bytes) = files::read(file).map_err(Failure::file(file))? else {
            let made = Self::random()?;
            let text = format!("[default]\n{ACCESS} = {}\n{SECRET} = {}\n", made.access_key, made.secret_key);
            files::replace(file, text.as_bytes()).map_err(Failure::file(file))?;
            return Ok(made);
        };
        if files::mode_for_others(file).is_some() {
            return Err(Failure::refused(format!("others may read {}", file.display()), format!("chmod 600 {}", file.display())));
        }
        let text = std::str::from_utf8(&bytes).map_err(|error| Failure::file(file)(io::Error::other(error)))?;
        Self::parse(text).ok_or_else(|| {
            Failure::refused(
                format!("{} has no {ACCESS}, or no {SECRET} of at least {SHORTEST} characters", file.display()),
                "name a file that does not exist, to have one made",
            )
        })
    }

    /// The first pair in a file.
    fn parse(text: &str) -> Option<Self> {
        let field = |name: &str| {
            let value = |line: &str| {
                Some(line.split_once('=')?).filter(|(found, _)| found.trim() == name).map(|(_, value)| value.trim().to_owned())
            };
            text.lines().find_map(value)
        };
        let found = Self { access_key: field(ACCESS)?, secret_key: field(SECRET)? };
        (!found.access_key.is_empty() && found.secret_key.len() >= SHORTEST).then_some(found)
    }
}

#[async_trait]
impl S3Auth for Credentials {
    async fn get_secret_key(&self, access_key: &str) -> S3Result<SecretKey> {
        match access_key == self.access_key {
            true => Ok(SecretKey::from(self.secret_key.as_str())),
            false => Err(s3_error!(InvalidAccessKeyId, "the access key is not the one that the server was started with")),
        }
    }
}

/// Whether a query is signed by an older version. No name of a parameter has letters that need to be encoded, so that nothing is hidden in one.
fn is_of_an_older_version(query: &str) -> bool {
    let mut names = query.split('&').filter_map(|field| field.split('=').next());
    names.any(|name| matches!(name, "AWSAccessKeyId" | "Signature") || name.contains(['%', '+']))
}

/// What the names of Amazon's headers begin with.
const AMAZON: &str = "x-amz-";

/// Those of them whose values are in what is signed, also where their names are not: the time, and the hash of the body.
const COVERED: [&str; 2] = ["x-amz-content-sha256", "x-amz-date"];

/// The names of the headers that a request signs, divided by semicolons: what its address says where the signature is there, and else its head.
fn signed_names(query: Option<&str>, authorization: Option<&str>) -> String {
    let field = |name: &str| {
        let mut fields = query?.split('&').filter_map(|field| field.split_once('='));
        fields.find_map(|(found, value)| (found == name).then_some(value))
    };
    let names = match field("X-Amz-Signature") {
        Some(_) => field("X-Amz-SignedHeaders"),
        None => authorization.and_then(|line| line.split([',', ' ']).find_map(|part| part.strip_prefix("SignedHeaders="))),
    };
    names.unwrap_or_default().replace("%3B", ";").replace("%3b", ";")
}

/// A header of Amazon that a request has and does not sign. Whoever was given the address of one file to write for a while would copy another one there
/// with such a header, or change on the way what somebody else asks for.
fn unsigned<'a>(headers: &'a HeaderMap, signed: &str) -> Option<&'a str> {
    let is_signed = |name: &str| COVERED.contains(&name) || signed.split(';').any(|known| known == name);
    headers.keys().map(|name| name.as_str()).find(|name| name.starts_with(AMAZON) && !is_signed(name))
}

/// Lets signed requests in, and no forms: their bodies would be held in memory.
pub(super) struct Gate;

#[async_trait]
impl S3Access for Gate {
    async fn check(&self, context: &mut S3AccessContext<'_>) -> S3Result<()> {
        let head = context.headers().get("authorization").map(|value| value.as_bytes());
        let is_old = head.is_some_and(|value| value.starts_with(b"AWS ")) || context.uri().query().is_some_and(is_of_an_older_version);
        if context.credentials().is_none() || is_old {
            return Err(s3_error!(AccessDenied, "sign the request with AWS Signature Version 4"));
        }
        let head = head.and_then(|value| std::str::from_utf8(value).ok());
        if let Some(name) = unsigned(context.headers(), &signed_names(context.uri().query(), head)) {
            return Err(s3_error!(AccessDenied, "the header {name} is not signed: sign all headers whose names begin with {AMAZON}"));
        }
        if context.s3_op().name() == "PostObject" {
            return Err(s3_error!(NotImplemented, "forms are not taken: use PutObject"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    /// No older signature is taken, however the names of its parameters are written.
    #[test]
    fn older_signatures_are_known() {
        for query in
            ["AWSAccessKeyId=a&Expires=1&Signature=b", "x=1&Signature=b", "AWSAccess%4BeyId=a&%53ignature=b", "list-type=2&Signatur%65=b"]
        {
            assert!(is_of_an_older_version(query), "{query}");
        }
        for query in ["", "list-type=2&prefix=a%2Fb&delimiter=%2F", "X-Amz-Signature=b&X-Amz-Credential=a%2Fb", "uploads"] {
            assert!(!is_of_an_older_version(query), "{query}");
        }
    }

    /// Amazon's headers are signed, by the list that the signature is made with: that of the address where it has one, and else that of the head.
    #[test]
    fn headers_of_amazon_are_signed() {
        let headers = |names: &[&'static str]| -> HeaderMap {
            let value = hyper::header::HeaderValue::from_static("x");
            names.iter().map(|name| (hyper::header::HeaderName::from_static(name), value.clone())).collect()
        };
        let address = |list: &str| format!("X-Amz-SignedHeaders={list}&X-Amz-Signature=00");
        let line = |list: &str| format!("AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders={list}, Signature=00");
        let copy = "x-amz-copy-source";
        let rows: [(&[&'static str], Option<String>, Option<String>, Option<&str>); 9] = [
            (&["host", "x-amz-date", "x-amz-content-sha256", "amz-sdk-request", "x-amzn-trace-id"], None, Some(line("host")), None),
            (&[copy], None, Some(line("host;x-amz-copy-source")), None),
            (&[copy], None, Some(line("host").replace(", ", ",")), Some(copy)),
            (&[copy], None, Some(line("host;x-amz-copy-source-range")), Some(copy)),
            (&[copy], Some(address("host")), None, Some(copy)),
            (&[copy], Some(address("host%3Bx-amz-copy-source")), None, None),
            (&[copy], Some(address("host")), Some(line("x-amz-copy-source")), Some(copy)),
            (&[copy], Some("X-Amz-SignedHeaders=x-amz-copy-source".to_owned()), Some(line("host")), Some(copy)),
            (&[copy], None, None, Some(copy)),
        ];
        for (names, query, authorization, expected) in rows {
            let found = headers(names);
            let signed = signed_names(query.as_deref(), authorization.as_deref());
            assert_eq!(unsigned(&found, &signed), expected, "{names:?} {query:?} {authorization:?}");
        }
    }

    /// The file is made once, with rights for its owner alone, and refused where others may read it or it has no key.
    #[test]
    fn credentials_have_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("s3.ini");
        let made = Credentials::load(Some(&file)).expect("it is made");
        assert_eq!(file.metadata().expect("it is there").permissions().mode() & 0o777, 0o600);
        let again = Credentials::load(Some(&file)).expect("it is read");
        assert_eq!((&again.access_key, &again.secret_key), (&made.access_key, &made.secret_key));
        assert_ne!(Credentials::load(None).expect("new ones").secret_key, made.secret_key);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).expect("it is its owner's");
        assert!(Credentials::load(Some(&file)).is_err());
        for text in [
            "",
            "[default]\naws_access_key_id = a\n",
            "aws_access_key_id = a\naws_secret_access_key = short\n",
            "aws_access_key_id =\naws_secret_access_key = 0123456789abcdef",
        ] {
            assert!(Credentials::parse(text).is_none(), "{text:?}");
        }
    }
}
