//! Parts of the tests that need more than a Rust toolchain. A skipped test reports a part of this list, so that a run
//! can count its skipped parts and say how to install what they need.
//!
//! `PURLIN_SKIPPED=FOLDER` keeps one file per skipped part; `.ci/run` prints them at its end.

#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use std::path::PathBuf;

/// A part of the tests that may be skipped.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Its name, as used by tests.
    pub name: &'static str,
    /// Its requirements, and how to install them.
    pub needs: &'static str,
    /// Whether every machine that builds Purlin has them: CI fails if such a part is skipped.
    pub is_everywhere: bool,
}

const fn optional(name: &'static str, needs: &'static str) -> Part {
    Part { name, needs, is_everywhere: false }
}

const fn everywhere(name: &'static str, needs: &'static str) -> Part {
    Part { name, needs, is_everywhere: true }
}

/// All parts that may be skipped.
pub const PARTS: &[Part] = &[
    everywhere("git", "git: apt-get install git"),
    everywhere("shell", "a POSIX shell at /bin/sh"),
    everywhere("built program", "the program itself: cargo test --workspace builds it"),
    optional("full device", "/dev/full, which Linux has"),
    optional("system calls", "strace: apt-get install strace"),
    optional("image builds", "root, buildah and docker-registry: apt-get install buildah docker-registry"),
    optional("chart registry", "docker-registry: apt-get install docker-registry"),
    optional("process namespaces", "unshare with the right to make process namespaces"),
    optional("mounts", "the right to mount a small file system"),
    optional("terminal", "script and stty: apt-get install bsdutils coreutils"),
    optional("browser", "chromium and chromedriver: apt-get install chromium chromium-driver"),
    optional("neovim", "Neovim: apt-get install neovim"),
    optional("assistant client", "the client library of the Model Context Protocol: pip install mcp"),
    optional("editor latency", "PURLIN_LATENCY=EDITS, which measures instead of testing"),
    optional("real cluster", "etcd and kube-apiserver on PATH"),
    optional("casd server", "PURLIN_CASD=FOLDER, after packaging/remote/install-casd FOLDER"),
    optional(
        "remote servers",
        "PURLIN_REMOTE=ADDRESS[ ADDRESS], servers that run; PURLIN_REMOTE_ACTIONS sets the number of actions",
    ),
    optional("just server", "PURLIN_JUST=PROGRAM, the program of justbuild: apt-get install justbuild (Debian 13)"),
    optional("certificates", "openssl: apt-get install openssl"),
    optional("kubectl", "kubectl: apt-get install kubernetes-client"),
    optional("recorded data", "the recorded answers of the original tools beside the checkout"),
    optional("packages", "Linux on x86_64"),
    optional("package tools", "bash, curl, python3, pip, npm, dpkg-deb and rpm, each where it can be installed"),
];

/// Reports a skipped part.
///
/// # Panics
/// If the part is not in the list: tests may only be skipped under a name that is counted.
#[allow(clippy::panic)]
pub fn skipped(name: &str) {
    let Some(part) = PARTS.iter().find(|part| part.name == name) else {
        panic!("`{name}` is missing in the list of parts that may be skipped");
    };
    eprintln!("skipped: {name} (needs {})", part.needs);
    let Some(folder) = std::env::var_os("PURLIN_SKIPPED").map(PathBuf::from) else { return };
    let kept = std::fs::create_dir_all(&folder).and_then(|()| {
        let text = format!("{}: needs {}\n", part.name, part.needs);
        let folder = if part.is_everywhere { folder.join("everywhere") } else { folder.join("optional") };
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(part.name.replace(' ', "-")), text)
    });
    assert!(kept.is_ok(), "PURLIN_SKIPPED: {kept:?}");
}
