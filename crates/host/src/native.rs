//! Paths of the system and paths of the world.
//!
//! The world writes paths with `/` and resolves `.` and `..` by their text. Windows has several other notations, and
//! some names there mean something other than a file. This is the border: system paths are converted to the world's
//! notation here, and paths of the world are checked here before the system sees them. The notation is an argument, so
//! that both are tested everywhere; the disk is only used to follow links.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A notation for paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// `/a/b`; a name may contain every character but `/`.
    Unix,
    /// `C:\a\b`, `C:/a/b`, `\\?\C:\a\b`.
    Windows,
}

/// The notation of the system this runs on.
pub const HERE: Notation = if cfg!(windows) { Notation::Windows } else { Notation::Unix };

/// Names that Windows treats as devices in every folder, whatever their extension.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Device names that are followed by a digit.
const NUMBERED: &[&str] = &["com", "lpt"];

impl Notation {
    /// A path of the system as the world writes it: `/` between the parts, drives as `C:/`, no `\\?\` in front.
    pub fn to_world(self, native: &str) -> Cow<'_, str> {
        if self == Notation::Unix {
            return Cow::Borrowed(native);
        }
        let plain = plain(native).replace('\\', "/");
        Cow::Owned(if is_drive(&plain) { format!("{plain}/") } else { plain })
    }

    /// A path of the world in the system's notation, or why it is not allowed.
    pub fn to_native(self, path: &str) -> Result<Cow<'_, str>, &'static str> {
        if path.contains('\0') {
            return Err("a path cannot hold a NUL character");
        }
        if self == Notation::Unix {
            return Ok(Cow::Borrowed(path));
        }
        let slashed = if path.contains('\\') { Cow::Owned(path.replace('\\', "/")) } else { Cow::Borrowed(path) };
        if slashed.starts_with("//") {
            return Err("a path cannot name a network share or a device");
        }
        let (drive, below) = slashed.split_once('/').unwrap_or((&slashed, ""));
        if !is_drive(drive) {
            check_part(drive)?;
        }
        below.split('/').try_for_each(check_part)?;
        Ok(slashed)
    }
}

/// A path without the prefix that tells Windows to take it literally.
fn plain(native: &str) -> &str {
    match native.strip_prefix(r"\\?\") {
        Some(rest) if rest.get(..2).is_some_and(is_drive) => rest,
        _ => native,
    }
}

fn is_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic())
}

/// Whether Windows takes a part of a path literally.
fn check_part(part: &str) -> Result<(), &'static str> {
    if matches!(part, "" | "." | "..") {
        return Ok(());
    }
    if part.contains(':') {
        return Err("a name cannot hold a colon on Windows");
    }
    if part.ends_with(['.', ' ']) {
        return Err("a name cannot end with a dot or a space on Windows");
    }
    if is_device(part) {
        return Err("the name is a device on Windows");
    }
    Ok(())
}

fn is_device(part: &str) -> bool {
    let name = part.split('.').next().unwrap_or(part).trim_end().to_ascii_lowercase();
    let is_numbered = |start: &str| {
        let mut rest = name.strip_prefix(start).unwrap_or("").chars();
        matches!((rest.next(), rest.next()), (Some('0'..='9' | '¹' | '²' | '³'), None))
    };
    DEVICES.contains(&name.as_str()) || NUMBERED.iter().any(|start| is_numbered(start))
}

/// Follows links, to a path in the plain notation of this system.
pub fn canonical(path: &Path) -> std::io::Result<PathBuf> {
    let real = path.canonicalize()?;
    // On Unix the path is used as it is, whether it is UTF-8 or not.
    Ok(if HERE == Notation::Unix { real } else { PathBuf::from(plain(&real.to_string_lossy())) })
}

/// Follows links if the path exists; otherwise returns it unchanged.
pub fn canonical_or_same(path: PathBuf) -> PathBuf {
    canonical(&path).unwrap_or(path)
}

/// A path of this system as the world writes it. Bytes that are not UTF-8 are written as characters of their own, which
/// [`system_path`] turns back, so that every file of the system has a name in the world.
pub fn world_text(path: &Path) -> String {
    HERE.to_world(&text_of_name(path.as_os_str())).into_owned()
}

/// A path of the world as the system knows it.
pub fn system_path(path: &str) -> PathBuf {
    PathBuf::from(name_of_text(path))
}

/// A path of the world as people see it: what is not UTF-8 is the replacement character.
pub fn shown(path: &str) -> Cow<'_, str> {
    match holds_bytes(path) {
        true => Cow::Owned(String::from_utf8_lossy(&bytes_of_text(path)).into_owned()),
        false => Cow::Borrowed(path),
    }
}

/// The character for the first byte that is not ASCII; those for the others follow. They are of the private use area: a
/// name that holds one of them is written byte by byte, too.
const FIRST_BYTE: u32 = 0xEF80;

#[cfg(unix)]
fn text_of_name(name: &OsStr) -> Cow<'_, str> {
    use std::os::unix::ffi::OsStrExt;
    match name.to_str() {
        Some(text) if !holds_bytes(text) => Cow::Borrowed(text),
        _ => Cow::Owned(text_of_bytes(name.as_bytes())),
    }
}

#[cfg(not(unix))]
fn text_of_name(name: &OsStr) -> Cow<'_, str> {
    name.to_string_lossy()
}

#[cfg(unix)]
fn name_of_text(text: &str) -> OsString {
    use std::os::unix::ffi::OsStringExt;
    if holds_bytes(text) { OsString::from_vec(bytes_of_text(text)) } else { OsString::from(text) }
}

#[cfg(not(unix))]
fn name_of_text(text: &str) -> OsString {
    OsString::from(text)
}

/// The first byte, in UTF-8, of all characters that [`byte_of`] knows.
const LEAD: u8 = 0xEE;

/// Whether a text holds bytes written as characters. Every path of a run is asked, and nearly none does.
fn holds_bytes(text: &str) -> bool {
    text.as_bytes().contains(&LEAD) && text.contains(|c| byte_of(c).is_some())
}

fn byte_of(c: char) -> Option<u8> {
    u8::try_from(u32::from(c).checked_sub(FIRST_BYTE)?).ok()?.checked_add(0x80)
}

fn character_of(byte: u8) -> char {
    let offset = u32::from(byte).checked_sub(0x80);
    offset.and_then(|offset| char::from_u32(FIRST_BYTE + offset)).unwrap_or(char::from(byte))
}

fn text_of_bytes(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match byte_of(c) {
                None => text.push(c),
                Some(_) => text.extend(c.encode_utf8(&mut [0; 4]).bytes().map(character_of)),
            }
        }
        text.extend(chunk.invalid().iter().copied().map(character_of));
    }
    text
}

fn bytes_of_text(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_for_bytes_begin_alike() {
        for byte in 0x80..=0xFF {
            let text = character_of(byte).to_string();
            assert!(text.as_bytes().first() == Some(&LEAD) && holds_bytes(&text), "{byte}");
        }
        assert!(!holds_bytes("svc/größe.yaml") && !holds_bytes("\u{E000}"));
    }

    #[test]
    fn paths_of_the_system_are_written_as_the_world_does() {
        for (native, expected) in [
            (r"C:\data\shop", "C:/data/shop"),
            (r"\\?\C:\data\shop", "C:/data/shop"),
            (r"\\?\c:\", "c:/"),
            (r"C:", "C:/"),
            (r"sub\a.yaml", "sub/a.yaml"),
            ("C:/data", "C:/data"),
            (r"\\server\share\a", "//server/share/a"),
        ] {
            assert_eq!(Notation::Windows.to_world(native), expected, "{native}");
        }
        for native in [r"/data/a\b", "/", "a:b", r"\\?\C:\x"] {
            assert_eq!(Notation::Unix.to_world(native), native);
        }
    }

    #[test]
    fn every_name_of_the_system_comes_back_from_its_text() {
        let all: Vec<u8> = (1..=255).collect();
        for name in [b"plain".as_slice(), "é\u{ef81}".as_bytes(), b"caf\xe9", b"\xee\xbe", &all] {
            let text = text_of_bytes(name);
            assert_eq!(bytes_of_text(&text), name, "{text:?}");
        }
        assert_ne!(text_of_bytes(b"caf\xe9"), text_of_bytes("caf\u{efe9}".as_bytes()));
        assert_eq!(text_of_bytes("é".as_bytes()), "é");
        assert_eq!(shown(&text_of_bytes(b"caf\xe9/\xc3\xa9")), "caf\u{fffd}/é");
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for (path, native) in [
            ("a/b.yaml", "a/b.yaml"),
            (r"a\..\b", "a/../b"),
            ("C:/data/a", "C:/data/a"),
            (r"C:\data", "C:/data"),
            ("C:", "C:"),
            ("/etc/passwd", "/etc/passwd"),
            ("console/com/null.yaml", "console/com/null.yaml"),
            (".hidden/..x", ".hidden/..x"),
            ("é/名.yaml", "é/名.yaml"),
            ("", ""),
        ] {
            assert_eq!(Notation::Windows.to_native(path).as_deref(), Ok(native), "{path}");
        }
        for path in [
            r"\\server\share\x",
            "//server/share/x",
            r"\\?\C:\x",
            r"\\.\pipe\x",
            "C:x",
            "a:stream",
            "a/b:$DATA",
            "CC:/x",
            "nul",
            "a/NUL.txt",
            "con .yaml",
            "LPT1",
            "com9.log",
            "com².x",
            "sub/aux",
            "a.",
            "a /b",
            "...",
            "C:/x/y.",
            "a\0b",
            "C:/a/C:/b",
        ] {
            assert!(Notation::Windows.to_native(path).is_err(), "{path}");
        }
        for path in ["a:b", r"a\b", "nul", "a.", "//x"] {
            assert_eq!(Notation::Unix.to_native(path).as_deref(), Ok(path));
        }
        assert!(Notation::Unix.to_native("a\0").is_err());
    }
}
