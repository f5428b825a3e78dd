//! Targets that read what a server of the Remote Execution API sends. HTTP/2 below it is a library's.

use super::{Target, about, kind_of};
use purlin_remote::digest::Function;
use purlin_remote::message::MESSAGES as ALL;
use purlin_remote::tree::Folder;

/// Messages.
pub(super) const MESSAGES: Target = Target {
    name: "remote-message",
    summary: "read every message of the Remote Execution API",
    run: |input| {
        let kinds = ALL.iter().map(|(_, again)| {
            let first = again(input).ok()?;
            // What is written is read as it was.
            assert_eq!(again(&first).as_ref(), Ok(&first));
            Some(about(first.len()))
        });
        kind_of(kinds.collect::<Vec<_>>())
    },
    seeds: &[
        "",
        "\n\u{5}main\0\u{10}\u{1}",
        "\n\u{2}\n\0\u{12}\u{4}\u{8}\u{1}\u{10}\u{2}",
        "\u{1a}\u{6}\n\u{1}a\u{12}\u{1}b",
    ],
    words: &["\n", "\u{12}", "\u{1a}", "\u{8}", "\u{10}", "\u{18}", "\u{7f}", "\0"],
    suite: &[],
};

/// Trees of folders.
pub(super) const TREE: Target = Target {
    name: "remote-tree",
    summary: "read a folder that a server sent",
    run: |input| match Folder::of_tree(input, Function::Sha256) {
        Ok(folder) => {
            let walked = folder.walk();
            let is_bad = |path: &str| path.split('/').any(|part| ["", ".", ".."].contains(&part));
            assert!(walked.iter().all(|(path, _)| !is_bad(path)));
            kind_of(about(walked.len()))
        }
        Err(why) => kind_of(std::mem::discriminant(&why)),
    },
    seeds: &[
        "",
        "\n\u{8}\u{1a}\u{6}\n\u{1}a\u{12}\u{1}b",
        "\n\u{c}\u{1a}\u{a}\n\u{1}a\u{12}\u{5}../..",
        "\n\0\u{12}\0",
    ],
    words: &["\n", "\u{12}", "\u{1a}", "..", "/", "a", "\0"],
    suite: &[],
};
