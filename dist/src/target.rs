//! The platforms of releases, and the name of each in every kind of package.

/// A platform.
pub struct Target {
    /// The Rust target triple.
    pub triple: &'static str,
    /// The architecture in a `.deb`; `None` if there is no such package.
    pub deb: Option<&'static str>,
    /// The architecture in an `.rpm`.
    pub rpm: Option<&'static str>,
    /// The platform tag of a wheel.
    pub wheel: &'static str,
    /// Operating system and architecture as npm names them.
    pub npm: (&'static str, &'static str),
}

/// All platforms of a release. The binaries for Linux are static, so that every distribution can run them.
pub const TARGETS: &[Target] = &[
    Target {
        triple: "x86_64-unknown-linux-musl",
        deb: Some("amd64"),
        rpm: Some("x86_64"),
        wheel: "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
        npm: ("linux", "x64"),
    },
    Target {
        triple: "aarch64-unknown-linux-musl",
        deb: Some("arm64"),
        rpm: Some("aarch64"),
        wheel: "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
        npm: ("linux", "arm64"),
    },
    Target {
        triple: "aarch64-apple-darwin",
        deb: None,
        rpm: None,
        wheel: "macosx_11_0_arm64",
        npm: ("darwin", "arm64"),
    },
    Target {
        triple: "x86_64-apple-darwin",
        deb: None,
        rpm: None,
        wheel: "macosx_10_12_x86_64",
        npm: ("darwin", "x64"),
    },
    Target { triple: "x86_64-pc-windows-msvc", deb: None, rpm: None, wheel: "win_amd64", npm: ("win32", "x64") },
];

impl Target {
    /// The platform with this name.
    pub fn named(triple: &str) -> Option<&'static Target> {
        TARGETS.iter().find(|target| target.triple == triple)
    }

    /// Whether binaries end in `.exe`.
    pub fn is_windows(&self) -> bool {
        self.npm.0 == "win32"
    }

    /// The file name of the program.
    pub fn program(&self) -> &'static str {
        if self.is_windows() { "purlin.exe" } else { "purlin" }
    }
}
