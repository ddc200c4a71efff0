//! Opening the files of a home: configuration, rules, locks, and the records outside the database.
//!
//! Only a regular file is opened, also behind a symbolic link. A pipe in its place is refused at once: opening it the
//! usual way would wait for its other end.

use std::{
    fs::{File, FileType, OpenOptions},
    io::{self, Read as _},
    os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _},
    path::Path,
};

/// Opens a regular file for reading. Anything else in its place is an error.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), path)
}

/// Opens a regular file with these options, which must not set custom flags of their own. Never blocks, whatever is in
/// the place of the file.
pub fn open_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    let file = match options.custom_flags(flags.bits().cast_signed()).open(path) {
        Ok(file) => file,
        // The system's own error for a pipe without a reader does not say that it is a pipe.
        Err(error) => return Err(refusal_at(path).unwrap_or(error)),
    };
    match refusal(file.metadata()?.file_type()) {
        Some(refusal) => Err(refusal),
        None => Ok(file),
    }
}

/// Returns the bytes of a file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the text of a file. Bytes that are not UTF-8 are an error of the kind `InvalidData`.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Returns the error for what is at `path`; none for a regular file or a path that cannot be looked up.
fn refusal_at(path: &Path) -> Option<io::Error> {
    refusal(std::fs::metadata(path).ok()?.file_type())
}

/// Returns an error for anything that is not a regular file.
fn refusal(kind: FileType) -> Option<io::Error> {
    let what = if kind.is_file() {
        return None;
    } else if kind.is_dir() {
        return Some(io::ErrorKind::IsADirectory.into());
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    Some(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what}, not a regular file")))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_a_regular_file_is_opened_and_nobody_waits() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
        assert!(made.success());
        fs::write(at("file"), "text").unwrap();
        fs::create_dir(at("folder")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("pipe"), at("link to a pipe")).unwrap();
        for name in ["file", "link"] {
            assert_eq!(read_to_string(&at(name)).unwrap(), "text");
            assert!(open_with(OpenOptions::new().append(true), &at(name)).is_ok());
        }
        for (name, expected) in
            [("pipe", "a pipe"), ("link to a pipe", "a pipe"), ("folder", "is a directory"), ("socket", "a socket")]
        {
            let ways = [
                open(&at(name)),
                open_with(OpenOptions::new().write(true), &at(name)),
                open_with(OpenOptions::new().append(true).create(true), &at(name)),
                open_with(OpenOptions::new().read(true).write(true), &at(name)),
            ];
            for way in ways {
                assert!(way.unwrap_err().to_string().contains(expected), "{name}");
            }
        }
        assert_eq!(read(&at("missing")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
