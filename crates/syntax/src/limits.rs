//! Every limit on input, by name.
//!
//! `purlin limits` prints this list; a diagnostic that reports a limit names it. Values are far above what people
//! write and far below what would hurt.

/// One limit: its name, its value and what it bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Kebab-case name, also the flag's name.
    pub name: &'static str,
    /// The value in force unless overridden.
    pub default: u64,
    /// What it bounds.
    pub summary: &'static str,
}

/// The longest expression of any dialect, in bytes: one `${…}`, one `{{…}}`, one query. Its parsers hold it in memory
/// as a whole; a template around expressions may be as long as a file.
pub const EXPRESSION_BYTES: usize = 256 * 1024;

/// Nesting depth of blocks and parentheses in a Go template.
pub const TEMPLATE_LEVELS: u32 = 400;
/// Nesting depth of a value that is printed, checked or converted as a whole.
pub const VALUE_LEVELS: u32 = 200;
/// Nesting depth of an expression: parentheses, filters, functions in functions.
pub const EXPRESSION_LEVELS: usize = 100;
/// Depth of dependencies among Unfurl values: attributes that read attributes, functions in functions.
pub const CALL_LEVELS: usize = 300;
/// Number of segments in an Unfurl query.
pub const QUERY_SEGMENTS: usize = 1_000;
/// Length of a chain of values that each depend on the next.
pub const CHAIN_LEVELS: usize = 4_000;
/// Nesting depth of charts in charts, and of folders.
pub const CHART_LEVELS: usize = 50;

/// Number of problems of a run that are kept by default. Few repositories have a hundredth of them, and each takes a
/// kilobyte.
pub const PROBLEMS: u64 = 50_000;

/// Depth of kustomizations that build upon each other.
pub const KUSTOMIZATION_LEVELS: usize = 64;

/// Nesting of collections that are merged, compared, copied or written out as a whole. Only guards recursion: input
/// is bounded earlier ([`Limits::depth`]).
pub const COLLECTION_LEVELS: u32 = 1_000;
/// The same where each level takes more stack.
pub const MERGE_LEVELS: u32 = 500;
/// Nesting of what is generated from, or checked against, a schema.
pub const SCHEMA_LEVELS: u32 = 300;
/// Nesting of rows of entity tables; guards against a wrong table.
pub const ROW_LEVELS: u32 = 20;

/// Limits without a flag.
pub const FIXED: &[Limit] = &[
    Limit { name: "expression-size", default: EXPRESSION_BYTES as u64, summary: "bytes of one expression (fixed)" },
    Limit {
        name: "expression-levels",
        default: EXPRESSION_LEVELS as u64,
        summary: "nesting of one expression of Garden or Unfurl (fixed)",
    },
    Limit {
        name: "template-levels",
        default: TEMPLATE_LEVELS as u64,
        summary: "nesting of blocks and parentheses of one template (fixed)",
    },
    Limit {
        name: "value-levels",
        default: VALUE_LEVELS as u64,
        summary: "nesting of a value that is printed, checked or converted as a whole (fixed)",
    },
    Limit {
        name: "call-levels",
        default: CALL_LEVELS as u64,
        summary: "values of Unfurl that need each other, one inside the other (fixed)",
    },
    Limit {
        name: "query-segments",
        default: QUERY_SEGMENTS as u64,
        summary: "segments of one query of Unfurl (fixed)",
    },
    Limit {
        name: "chain-levels",
        default: CHAIN_LEVELS as u64,
        summary: "values that each depend on the next, in one chain (fixed)",
    },
    Limit { name: "chart-levels", default: CHART_LEVELS as u64, summary: "nesting of charts in charts (fixed)" },
    Limit {
        name: "kustomization-levels",
        default: KUSTOMIZATION_LEVELS as u64,
        summary: "kustomizations that each build upon the next (fixed)",
    },
];

/// The limits of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Nesting of collections in documents, and of expressions.
    pub depth: u32,
    /// Nodes of one file: scalars, keys and collections.
    pub nodes: u64,
    /// Nodes that aliases may add to a document, at the least; [`Limits::alias_nodes`] scales with its size.
    pub alias_floor: u64,
    /// Bytes of text of a document after aliases, at the least; [`Limits::alias_bytes`] scales with its size.
    pub alias_bytes_floor: u64,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes of all files together.
    pub total_bytes: u64,
    /// Bytes of an archive when unpacked.
    pub archive_bytes: u64,
    /// Bytes of one file in an archive.
    pub archive_entry_bytes: u64,
    /// Files in an archive.
    pub archive_entries: u64,
    /// Unpacked bytes per packed byte of an archive.
    pub archive_ratio: u64,
    /// Nested template includes.
    pub include_depth: u32,
    /// Nested `tpl` calls.
    pub tpl_depth: u32,
    /// Steps of evaluation in one run.
    pub fuel: u64,
    /// Bytes of text and collections that evaluation may hold, at the least; [`Limits::memory`] scales with the
    /// input.
    pub memory_floor: u64,
    /// Bytes of one rendered document.
    pub output_bytes: u64,
    /// Items of one list or range.
    pub list_items: u64,
    /// Bytes of one string.
    pub string_bytes: u64,
    /// Bytes of one compiled regular expression.
    pub regex_bytes: u64,
    /// Problems that are kept.
    pub problems: u64,
    /// Problems that are printed for people.
    pub diagnostics: u64,
    /// Problems of one file that are printed for people.
    pub diagnostics_per_file: u64,
    /// Bytes of a project's text, times the environments or profiles in which one run checks it.
    pub variants: u64,
}

const MIB: u64 = 1024 * 1024;

impl Default for Limits {
    fn default() -> Self {
        Limits {
            depth: 1_000,
            nodes: 1_000_000,
            alias_floor: 100_000,
            alias_bytes_floor: 16 * MIB,
            file_bytes: 16 * MIB,
            total_bytes: 256 * MIB,
            archive_bytes: 100 * MIB,
            archive_entry_bytes: 5 * MIB,
            archive_entries: 10_000,
            archive_ratio: 200,
            include_depth: 1_000,
            tpl_depth: 100,
            fuel: 50_000_000,
            memory_floor: 96 * MIB,
            output_bytes: 64 * MIB,
            list_items: 1_000_000,
            string_bytes: 16 * MIB,
            regex_bytes: MIB,
            problems: PROBLEMS,
            diagnostics: 1_000,
            diagnostics_per_file: 200,
            variants: 16 * MIB,
        }
    }
}

impl Limits {
    /// Number of nodes that a document of `bytes` bytes may have once its aliases are expanded.
    pub fn alias_nodes(&self, bytes: u64) -> u64 {
        self.alias_floor.max(bytes.saturating_mul(10))
    }

    /// Bytes of text that a document of `bytes` bytes may have once its aliases are expanded.
    pub fn alias_bytes(&self, bytes: u64) -> u64 {
        self.alias_bytes_floor.max(bytes.saturating_mul(10))
    }

    /// Bytes of text and collections that evaluation may hold after reading `read` bytes.
    pub fn memory(&self, read: u64) -> u64 {
        self.memory_floor.max(read.saturating_mul(64))
    }

    /// All limits with the values in force.
    pub fn list(&self) -> Vec<Limit> {
        let limit = |name, default, summary| Limit { name, default, summary };
        vec![
            limit("depth", self.depth.into(), "nesting of collections in a document, and of an expression"),
            limit("nodes", self.nodes, "nodes of one file: scalars, keys and collections"),
            limit(
                "alias-nodes",
                self.alias_floor,
                "nodes of a document after aliases, or ten per byte if that is more",
            ),
            limit(
                "alias-size",
                self.alias_bytes_floor,
                "bytes of text of a document after aliases, or ten per byte if that is more",
            ),
            limit("file-size", self.file_bytes, "bytes of one file"),
            limit("total-size", self.total_bytes, "bytes of all files that are held at once"),
            limit("archive-size", self.archive_bytes, "bytes of an archive when unpacked"),
            limit("archive-entry-size", self.archive_entry_bytes, "bytes of one file in an archive"),
            limit("archive-entries", self.archive_entries, "files in an archive"),
            limit("archive-ratio", self.archive_ratio, "unpacked bytes per packed byte of an archive"),
            limit("include-depth", self.include_depth.into(), "nested template includes"),
            limit("tpl-depth", self.tpl_depth.into(), "nested `tpl` calls"),
            limit("fuel", self.fuel, "steps of evaluation in one run"),
            limit(
                "memory",
                self.memory_floor,
                "bytes of values that evaluation holds, or 64 per byte read if that is more",
            ),
            limit("output-size", self.output_bytes, "bytes of one rendered document"),
            limit("list-items", self.list_items, "items of one list or range"),
            limit("string-size", self.string_bytes, "bytes of one string"),
            limit("regex-size", self.regex_bytes, "bytes of one compiled regular expression"),
            limit("problems", self.problems, "problems of one run that are kept"),
            limit("diagnostics", self.diagnostics, "problems printed for people; all are counted"),
            limit("diagnostics-per-file", self.diagnostics_per_file, "problems of one file printed for people"),
            limit(
                "variants",
                self.variants,
                "bytes of a project's text, times the environments or profiles in which `check` resolves it",
            ),
        ]
    }

    /// Sets a limit by its name; false if the name is unknown.
    pub fn set(&mut self, name: &str, value: u64) -> bool {
        let small = u32::try_from(value).unwrap_or(u32::MAX);
        match name {
            // Deeper nesting would need more stack than is guaranteed.
            "depth" => self.depth = small.min(1_000),
            "nodes" => self.nodes = value,
            "alias-nodes" => self.alias_floor = value,
            "alias-size" => self.alias_bytes_floor = value,
            "file-size" => self.file_bytes = value.min(u64::from(u32::MAX / 2)),
            "total-size" => self.total_bytes = value,
            "archive-size" => self.archive_bytes = value,
            "archive-entry-size" => self.archive_entry_bytes = value,
            "archive-entries" => self.archive_entries = value,
            "archive-ratio" => self.archive_ratio = value,
            "include-depth" => self.include_depth = small.min(1_000),
            "tpl-depth" => self.tpl_depth = small.min(1_000),
            "fuel" => self.fuel = value,
            "memory" => self.memory_floor = value,
            "output-size" => self.output_bytes = value,
            "list-items" => self.list_items = value,
            "string-size" => self.string_bytes = value,
            "regex-size" => self.regex_bytes = value,
            "problems" => self.problems = value,
            "diagnostics" => self.diagnostics = value,
            "diagnostics-per-file" => self.diagnostics_per_file = value,
            "variants" => self.variants = value,
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_limit_can_be_set() {
        for limit in Limits::default().list() {
            let mut limits = Limits::default();
            assert!(limits.set(limit.name, 7), "{}", limit.name);
            let changed =
                limits.list().iter().zip(Limits::default().list()).filter(|(a, b)| a.default != b.default).count();
            assert_eq!(changed, 1, "{}", limit.name);
        }
        assert!(!Limits::default().set("no-such-limit", 1));
        assert!(FIXED.iter().all(|limit| !Limits::default().set(limit.name, 1)));
    }
}
