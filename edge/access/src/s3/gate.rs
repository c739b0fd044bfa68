//! Who is let in: requests that are signed with the one pair of credentials, by the fourth version of AWS's signatures.

use async_trait::async_trait;
use cowboy_console::failure::Failure;
use cowboy_host::files;
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
