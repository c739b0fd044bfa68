//! Where the passphrase of an encrypted key file comes from: the environment, a file, or the terminal.

use super::KeyError;

/// The passphrase itself.
pub const ENV_PASSPHRASE: &str = "COWBOY_PASSPHRASE";

/// The file of the passphrase, for services; a line break at its end is no part of it.
pub const ENV_PASSPHRASE_FILE: &str = "COWBOY_PASSPHRASE_FILE";

/// The passphrase that the environment gives, where it does.
fn given() -> Result<Option<String>, KeyError> {
    if let Ok(passphrase) = std::env::var(ENV_PASSPHRASE) {
        return Ok(Some(passphrase));
    }
    let Some(path) = std::env::var_os(ENV_PASSPHRASE_FILE) else { return Ok(None) };
    let text = std::fs::read_to_string(&path).map_err(|source| KeyError::File { path: path.into(), source })?;
    Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
}

/// The passphrase of a file that is there.
pub(super) fn of(file: &str) -> Result<String, KeyError> {
    match given()? {
        Some(passphrase) => Ok(passphrase),
        None => rpassword::prompt_password(format!("Passphrase of {file}: ")).map_err(|_| KeyError::NoPassphrase(file.to_owned())),
    }
}

/// The passphrase of a new file, asked for twice where a terminal is asked.
pub fn new(file: &str) -> Result<String, KeyError> {
    if let Some(passphrase) = given()? {
        return if passphrase.is_empty() { Err(KeyError::EmptyPassphrase) } else { Ok(passphrase) };
    }
    let ask = |text: String| rpassword::prompt_password(text).map_err(|_| KeyError::NoPassphrase(file.to_owned()));
    let passphrase = ask(format!("New passphrase for {file}: "))?;
    if passphrase.is_empty() {
        return Err(KeyError::EmptyPassphrase);
    }
    if ask("The same again: ".to_owned())? == passphrase { Ok(passphrase) } else { Err(KeyError::Differ) }
}
