//! Tokens that the program makes itself: random, in files that only their owner can read.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
};

use crate::{
    durable_file::FileReplacement,
    failpoint,
    model::{Secret, ids::hex},
    regular_file,
};

/// The number of random bytes in a token that the program makes.
const TOKEN_BYTES: usize = 32;

/// Returns bytes that nobody can guess.
pub fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Returns the token in the file; one that is missing or was cut short by a kill is made anew.
pub fn load_or_make_token(file: &Path) -> io::Result<Secret> {
    match regular_file::read_to_string(file) {
        Ok(text) if text.trim().len() == 2 * TOKEN_BYTES => return Ok(Secret::new(text.trim())),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    make_token(file)
}

/// Puts a new token into the file, in place of the one before.
pub fn make_token(file: &Path) -> io::Result<Secret> {
    let token = hex(&random_bytes::<TOKEN_BYTES>()?);
    failpoint::around("client_token.write", || {
        FileReplacement::new(file).replace_durably(format!("{token}\n").as_bytes())
    })?;
    Ok(Secret::new(token))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_token_is_made_once_and_only_its_owner_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.token");
        let made = load_or_make_token(&file).unwrap();
        assert_eq!(made.reveal().len(), 64);
        assert!(load_or_make_token(&file).unwrap() == made);
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&file, "cut").unwrap();
        assert!(load_or_make_token(&file).unwrap() != made);
    }
}
