//! The colours of dialects and kinds: fixed, distinguishable for colour-blind readers, on light paper and on dark.
//!
//! A dialect has a hue, a kind one of four shades of it. Hues follow Wong's palette for colour-blind readers; a box
//! also has its kind in words, so that no colour needs to be known.

/// The colours of a dialect.
#[derive(Clone, Copy, Debug)]
pub struct Hue {
    /// The dialect; empty for groups of several.
    pub dialect: &'static str,
    /// Rim and four shades on light paper.
    pub light: [&'static str; 5],
    /// Rim and four shades on dark paper.
    pub dark: [&'static str; 5],
}

/// All hues; the last one is the default.
#[rustfmt::skip]
pub const HUES: &[Hue] = &[
    Hue { dialect: "garden", light: ["#00805c", "#e9f7f1", "#cdeede", "#f4fbf8", "#b4e3cd"], dark: ["#3fc79a", "#0d2b22", "#124033", "#0a211a", "#185543"] },
    Hue { dialect: "skaffold", light: ["#8a6d00", "#fdf6dc", "#f9eab1", "#fefaee", "#f3dd84"], dark: ["#e0b83a", "#2d2609", "#43380c", "#221d08", "#574910"] },
    Hue { dialect: "charts", light: ["#0067ad", "#e8f2fb", "#cde4f7", "#f3f8fd", "#b1d5f2"], dark: ["#5cb1f0", "#0b2338", "#103352", "#0a1c2d", "#15436c"] },
    Hue { dialect: "tosca", light: ["#b84a00", "#fdeee4", "#fbdcc7", "#fef6f1", "#f7c7a6"], dark: ["#f2935a", "#351a0b", "#4c2610", "#291409", "#643214"] },
    Hue { dialect: "unfurl", light: ["#a13d7d", "#fbecf5", "#f5d6e8", "#fdf5fa", "#eebfda"], dark: ["#e48cc0", "#331427", "#491d38", "#27101e", "#5f2649"] },
    Hue { dialect: "kustomize", light: ["#007f92", "#e3f5f8", "#c4e9ef", "#f1fafc", "#a5dce6"], dark: ["#4cc5d8", "#082a31", "#0c3d47", "#072026", "#10505d"] },
    Hue { dialect: "", light: ["#6b7683", "#f4f6f8", "#e9edf1", "#fafbfc", "#dde3e9"], dark: ["#8c99a8", "#19212b", "#222c38", "#141b23", "#2c3846"] },
];

/// Index of a dialect's hue.
pub fn hue(dialect: Option<&str>) -> usize {
    HUES.iter().position(|hue| Some(hue.dialect) == dialect).unwrap_or(HUES.len() - 1)
}

/// Kinds that have another shade than the first.
const SHADES: &[(&str, usize)] = &[
    ("Deploy", 1),
    ("Run", 2),
    ("Test", 3),
    ("module", 1),
    ("Deployment", 1),
    ("StatefulSet", 1),
    ("DaemonSet", 1),
    ("Job", 1),
    ("CronJob", 1),
    ("Pod", 1),
    ("ReplicaSet", 1),
    ("Service", 3),
    ("Ingress", 3),
    ("NetworkPolicy", 3),
    ("Gateway", 3),
    ("HTTPRoute", 3),
    ("ConfigMap", 2),
    ("Secret", 2),
    ("PersistentVolumeClaim", 2),
    ("PersistentVolume", 2),
    ("StorageClass", 2),
    ("instance", 1),
    ("group", 2),
    ("policy", 3),
];

/// Index of a kind's shade of its dialect's hue, the same in all projects.
pub fn shade(kind: &str) -> usize {
    SHADES.iter().find(|(known, _)| *known == kind).map_or(0, |(_, shade)| *shade)
}

/// Colours of paper and ink: paper, ink, pale ink, lines, warning.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// The ground.
    pub paper: &'static str,
    /// Words.
    pub ink: &'static str,
    /// Words of less weight.
    pub pale: &'static str,
    /// Lines.
    pub line: &'static str,
    /// Errors.
    pub wrong: &'static str,
}

/// Light paper.
pub const LIGHT: Paper = Paper { paper: "#ffffff", ink: "#14202b", pale: "#4b5967", line: "#7d8b99", wrong: "#b3261e" };
/// Dark paper.
pub const DARK: Paper = Paper { paper: "#0d141c", ink: "#eef3f7", pale: "#a9b6c3", line: "#7a8998", wrong: "#ff8a80" };
