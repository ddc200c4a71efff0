//! The files that a request attaches with `@name`: read only inside of the configured folders, never through a link,
//! never more than the limit, and only text.

use std::{
    io::Read as _,
    path::{Component, Path},
};

use rustix::fs::{Mode, OFlags, open, openat};
use serde::{Deserialize, Serialize};

use crate::{app::BadInput, config::AttachableFiles};

/// A file that a request attaches, with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachedFile {
    /// The path as the request has it.
    pub path: String,
    pub text: String,
}

/// Reads a file of a request. The first root that has it counts.
pub(super) fn read_request_file(path: &str, files: &AttachableFiles) -> Result<AttachedFile, BadInput> {
    let refuse = |why: &str| BadInput(format!("@{path}: {why}"));
    let roots: Vec<String> = files.roots.iter().map(|root| root.display().to_string()).collect();
    let relative = Path::new(path);
    let is_inside = relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !is_inside {
        return Err(refuse(&format!("files are read only inside of {}; give the path in there", roots.join(", "))));
    }
    for root in &files.roots {
        match open_beneath(root, relative) {
            Ok(file) => {
                return read_text(file, files.largest)
                    .map(|text| AttachedFile { path: path.to_owned(), text })
                    .map_err(|why| refuse(&why));
            }
            Err(rustix::io::Errno::NOENT) => {}
            Err(rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR | rustix::io::Errno::MLINK) => {
                return Err(refuse("it is reached through a symbolic link, which is not followed"));
            }
            Err(error) => return Err(refuse(&std::io::Error::from(error).to_string())),
        }
    }
    Err(refuse(&format!("there is no such file in {}", roots.join(", "))))
}

/// Opens a file beneath a folder, one part of the path after the other, so that no part can be a link.
fn open_beneath(root: &Path, relative: &Path) -> Result<std::fs::File, rustix::io::Errno> {
    let folder_flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder = open(root, folder_flags, Mode::empty())?;
    let mut parts = relative.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    let mut part = parts.next().ok_or(rustix::io::Errno::NOENT)?;
    for next in parts {
        folder = openat(&folder, part, folder_flags | OFlags::NOFOLLOW, Mode::empty())?;
        part = next;
    }
    // A pipe in the place of the file must not make anybody wait.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(std::fs::File::from(openat(&folder, part, flags, Mode::empty())?))
}

/// Reads the text of a file. Returns why it is refused.
fn read_text(file: std::fs::File, largest: usize) -> Result<String, String> {
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a regular file".into());
    }
    let mut bytes = Vec::new();
    let limit = u64::try_from(largest).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() > largest {
        return Err(format!("it is larger than {} KB (planner.file_kilobytes)", largest / 1024));
    }
    if bytes.contains(&0) {
        return Err("it is a binary file; only text can be attached".into());
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text; only text can be attached".into())
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn only_text_inside_of_the_roots_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("files");
        fs::create_dir_all(root.join("a")).unwrap();
        fs::write(root.join("a/notes.txt"), "Ring Ann").unwrap();
        fs::write(root.join("large.txt"), vec![b'x'; 2_000]).unwrap();
        fs::write(root.join("image.png"), [0x89, 0x50, 0, 1]).unwrap();
        fs::write(root.join("latin.txt"), [0x66, 0xfc]).unwrap();
        fs::write(folder.path().join("secret.txt"), "secret").unwrap();
        symlink(folder.path().join("secret.txt"), root.join("link.txt")).unwrap();
        symlink(folder.path(), root.join("up")).unwrap();
        let files = AttachableFiles { roots: vec![root], largest: 1_024 };
        assert_eq!(read_request_file("a/notes.txt", &files).unwrap().text, "Ring Ann");
        assert_eq!(read_request_file("./a/notes.txt", &files).unwrap().text, "Ring Ann");
        for (path, why) in [
            ("none.txt", "there is no such file"),
            ("../secret.txt", "only inside of"),
            ("/etc/passwd", "only inside of"),
            ("link.txt", "symbolic link"),
            ("up/secret.txt", "symbolic link"),
            ("large.txt", "larger than 1 KB"),
            ("image.png", "binary"),
            ("latin.txt", "not UTF-8"),
            ("a", "not a regular file"),
        ] {
            let error = read_request_file(path, &files).unwrap_err().to_string();
            assert!(error.contains(why), "{path}: {error}");
        }
    }
}
