//! The `purlin` program: hands its surroundings to the library.

use purlin_cli::{Exit, Invocation};
use std::io::{IsTerminal, Write};

/// A run allocates many small things on a thread of its own, where the system's allocator asks the kernel page by page.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    if std::env::args_os().nth(1).is_some_and(|first| first == purlin_run::local::guard::ARGUMENT) {
        return purlin_run::local::guard::watch(std::io::stdin());
    }
    if purlin_cli::is_evaluator() {
        return purlin_cli::serve_evaluations();
    }
    let mut stdout = Stdout { inner: std::io::BufWriter::new(std::io::stdout()), failed: None };
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
        project_env: std::collections::BTreeMap::default(),
        given: None,
        last: true,
        veil: purlin_cli::Veil::default(),
    });
    std::process::exit(stdout.finish(code));
}

/// Standard output that records write errors, so that no command succeeds if its answer was lost, and each loss is
/// told once.
struct Stdout {
    inner: std::io::BufWriter<std::io::Stdout>,
    failed: Option<std::io::Error>,
}

impl Stdout {
    /// Writes the rest. The exit code is that of a failed output if anything was lost.
    fn finish(mut self, code: i32) -> i32 {
        let flushed = self.inner.flush();
        match self.failed.take().or(flushed.err()) {
            // A closed pipe (`| head`) is not an error.
            None => code,
            Some(error) if error.kind() == std::io::ErrorKind::BrokenPipe => code,
            Some(error) => {
                let _ = writeln!(std::io::stderr(), "error: could not write the output: {error}");
                Exit::Io.code()
            }
        }
    }

    fn note<T>(&mut self, result: std::io::Result<T>) -> std::io::Result<T> {
        result.inspect_err(|error| {
            let copy = || error.raw_os_error().map_or_else(|| error.kind().into(), std::io::Error::from_raw_os_error);
            self.failed.get_or_insert_with(copy);
        })
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let result = self.inner.write(bytes);
        self.note(result)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let result = self.inner.flush();
        self.note(result)
    }
}
