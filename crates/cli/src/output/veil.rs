//! Hides the secrets of a run in all output of the program.
//!
//! The output of a run has many sources: commands, clusters, results of earlier runs, steps of workflows. None of them
//! has to know the secrets: the two streams hide them, from the moment a project is opened to be run.

use purlin_run::mask::Mask;
use std::borrow::Cow;
use std::io::{Result, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The secrets that both streams of a run hide.
#[derive(Clone, Default, Debug)]
pub struct Veil(Arc<Mutex<Hidden>>);

#[derive(Default, Debug)]
struct Hidden {
    secrets: Vec<String>,
    mask: Mask,
}

impl Veil {
    /// Hides these texts from now on.
    pub(crate) fn hide(&self, secrets: &[String]) {
        let mut hidden = self.lock();
        let before = hidden.secrets.len();
        hidden.secrets.extend_from_slice(secrets);
        hidden.secrets.sort();
        hidden.secrets.dedup();
        if hidden.secrets.len() > before {
            hidden.mask = Mask::new(hidden.secrets.iter().map(String::as_str));
        }
    }

    /// A text without secrets, for callers that do not print it to a stream.
    pub(crate) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let hidden = self.lock();
        if hidden.mask.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(hidden.mask.text(text)) }
    }

    /// A stream of its own behind this veil. What it holds back is shown with the next bytes, or at the end.
    pub(crate) fn over<W: Write>(&self, inner: W) -> Veiled<W> {
        Veiled { inner, veil: self.clone(), held: Vec::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Hidden> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream behind a veil.
pub(crate) struct Veiled<W: Write> {
    inner: W,
    veil: Veil,
    /// A possible beginning of a secret.
    held: Vec<u8>,
}

impl<W: Write> Write for Veiled<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let hidden = self.veil.lock();
        if hidden.mask.is_empty() {
            return self.inner.write(bytes);
        }
        let mut out = Vec::with_capacity(bytes.len());
        hidden.mask.pass(bytes, &mut self.held, &mut out);
        self.inner.write_all(&out)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }
}

/// Bytes still held at the end of the run are not a secret.
impl<W: Write> Drop for Veiled<W> {
    fn drop(&mut self) {
        let mut out = Vec::new();
        self.veil.lock().mask.pass_rest(&mut self.held, &mut out);
        // If even this cannot be written, the exit code remains.
        let _ = self.inner.write_all(&out);
        let _ = self.inner.flush();
    }
}
