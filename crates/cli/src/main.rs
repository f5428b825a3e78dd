//! The `purlin` program: hands its surroundings to the library.

#![allow(clippy::disallowed_methods)] // The surface is where the outside is touched.

use purlin_cli::Invocation;
use std::io::{IsTerminal, Write};

/// A run allocates many small things on a thread of its own, where the system's allocator asks the kernel page by page.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let mut stdout = std::io::BufWriter::new(std::io::stdout());
    let mut stderr = std::io::stderr();
    let terminal = std::io::stderr().is_terminal();
    let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
    let code = purlin_cli::run(Invocation {
        args: std::env::args_os().skip(1).map(text).collect(),
        cwd: std::env::current_dir().unwrap_or_else(|_| ".".into()),
        env: std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect(),
        stdin: None,
        stdout: &mut stdout,
        stderr: &mut stderr,
        terminal,
        last: true,
    });
    // A reader that went away (`| head`) is no reason to complain.
    let _ = stdout.flush();
    std::process::exit(code);
}
