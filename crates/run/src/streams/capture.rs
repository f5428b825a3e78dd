//! The output of an action: masked, written to its log, split into lines, its end remembered; memory is bounded however
//! much is printed.

use crate::local::process::Stream;
use crate::mask::{Mask, Masked};
use crate::store::Log;
use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;

/// Maximum length of the part of a stream that becomes an output.
pub const LONGEST_OUTPUT: usize = 1 << 20;

/// Maximum length of the output that is shown and kept in the log: its beginning. Of the rest, only the end is kept.
pub const LONGEST_LOG: u64 = 16 << 20;

/// Length of the end that is kept.
const LONGEST_END: usize = 16 << 10;

/// A longer line is shown in pieces.
const LONGEST_LINE: usize = 16 << 10;

/// Number of lines shown after a failure.
const TAIL: usize = 20;

/// One stream.
struct Channel<'m> {
    masked: Masked<'m>,
    /// The incomplete last line.
    line: Vec<u8>,
    /// Its output, unmasked: other actions may need it.
    text: Vec<u8>,
    overflow: bool,
}

impl<'m> Channel<'m> {
    /// A line for display. Removing control sequences may join the parts of a secret, so it is masked again.
    fn shown(&self, line: &[u8]) -> String {
        let text = readable(line);
        if self.masked.mask().is_empty() { text } else { self.masked.mask().text(&text) }
    }

    fn new(mask: &'m Mask) -> Self {
        Channel { masked: Masked::new(mask), line: Vec::new(), text: Vec::new(), overflow: false }
    }

    fn remember(&mut self, bytes: &[u8]) {
        let room = LONGEST_OUTPUT - self.text.len();
        self.overflow |= bytes.len() > room;
        self.text.extend_from_slice(bytes.get(..bytes.len().min(room)).unwrap_or_default());
    }
}

/// The output of one action.
pub struct Capture<'m> {
    out: Channel<'m>,
    err: Channel<'m>,
    /// The log, if one is kept.
    log: Option<Log>,
    file: Option<File>,
    written: u64,
    log_error: Option<std::io::Error>,
    tail: VecDeque<String>,
    /// The end of the output that is no longer shown.
    end: Vec<u8>,
}

/// The output of an action, once it has ended.
pub struct Printed {
    /// Standard output, without the last line end.
    pub out: String,
    /// Standard error, without the last line end.
    pub err: String,
    /// Whether one of them exceeded the maximum length of an output.
    pub overflow: bool,
    /// The last lines, masked.
    pub tail: Vec<String>,
    /// Why the log could not be written.
    pub log_error: Option<std::io::Error>,
}

impl<'m> Capture<'m> {
    /// Output that goes to a log, if there is one; the log is created with the first byte.
    pub fn new(mask: &'m Mask, log: Option<Log>) -> Self {
        let (out, err) = (Channel::new(mask), Channel::new(mask));
        Capture { out, err, log, file: None, written: 0, log_error: None, tail: VecDeque::new(), end: Vec::new() }
    }

    /// Takes a piece; every complete line goes to `show`.
    pub fn push(&mut self, stream: Stream, bytes: &[u8], show: &mut dyn FnMut(&str)) {
        let channel = self.channel(stream);
        channel.remember(bytes);
        let mut clean = Vec::with_capacity(bytes.len());
        channel.masked.push(bytes, &mut clean);
        self.take(stream, &clean, show);
    }

    fn channel(&mut self, stream: Stream) -> &mut Channel<'m> {
        match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        }
    }

    fn take(&mut self, stream: Stream, clean: &[u8], show: &mut dyn FnMut(&str)) {
        if self.written > LONGEST_LOG {
            return self.keep_end(clean);
        }
        self.write_log(clean);
        let channel = self.channel(stream);
        let mut lines = Vec::new();
        for piece in clean.split_inclusive(|byte| *byte == b'\n') {
            channel.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") || channel.line.len() >= LONGEST_LINE {
                let line = std::mem::take(&mut channel.line);
                lines.push(channel.shown(&line));
            }
        }
        for line in lines {
            self.end_line(line, show);
        }
    }

    /// Beyond the limit, only the end is kept.
    fn keep_end(&mut self, clean: &[u8]) {
        self.end.extend_from_slice(clean);
        if self.end.len() > 2 * LONGEST_END {
            self.end.drain(..self.end.len() - LONGEST_END);
        }
    }

    fn end_line(&mut self, line: String, show: &mut dyn FnMut(&str)) {
        show(&line);
        if self.tail.len() == TAIL {
            self.tail.pop_front();
        }
        self.tail.push_back(line);
    }

    fn write_log(&mut self, clean: &[u8]) {
        if clean.is_empty() {
            return;
        }
        self.written += clean.len() as u64;
        let Some(log) = self.log.as_ref().filter(|_| self.log_error.is_none()) else { return };
        if self.file.is_none() {
            match log.create() {
                Ok(file) => self.file = Some(file),
                Err(error) => {
                    self.log_error = Some(error);
                    return;
                }
            }
        }
        let Some(file) = &mut self.file else { return };
        self.log_error = file.write_all(clean).err();
    }

    /// Shows the end of the output beyond the limit, and that something is missing before it.
    fn finish_flood(&mut self, show: &mut dyn FnMut(&str)) {
        let end = std::mem::take(&mut self.end);
        let end = end.get(end.len().saturating_sub(LONGEST_END)..).unwrap_or_default();
        let note = format!("(what follows the first {} MiB is left out, but for its end)", LONGEST_LOG >> 20);
        if let Some(file) = &mut self.file
            && self.log_error.is_none()
        {
            self.log_error = write!(file, "\n{note}\n").and_then(|()| file.write_all(end)).err();
        }
        self.end_line(note, show);
        let lines: Vec<&[u8]> = end.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        for line in lines.iter().skip(lines.len().saturating_sub(TAIL)) {
            self.end_line(self.out.shown(line), show);
        }
    }

    /// Called when the action has ended.
    pub fn finish(mut self, show: &mut dyn FnMut(&str)) -> Printed {
        for stream in [Stream::Out, Stream::Err] {
            let mut clean = Vec::new();
            let channel = self.channel(stream);
            channel.masked.finish(&mut clean);
            self.take(stream, &clean, show);
            let rest = std::mem::take(&mut self.channel(stream).line);
            if !rest.is_empty() {
                let line = self.channel(stream).shown(&rest);
                self.end_line(line, show);
            }
        }
        if !self.end.is_empty() {
            self.finish_flood(show);
        }
        if let Some(log) = self.log.as_ref().filter(|_| self.file.is_none() && self.log_error.is_none()) {
            // The log of an earlier run does not belong to this one.
            log.remove();
        }
        Printed {
            out: output_text(self.out.text),
            err: output_text(self.err.text),
            overflow: self.out.overflow || self.err.overflow,
            tail: self.tail.into(),
            log_error: self.log_error,
        }
    }
}

/// A stream as an output: one trailing newline belongs to the shell.
fn output_text(bytes: Vec<u8>) -> String {
    let mut text = String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into());
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    text
}

/// A line for display: without its end, and without control characters.
fn readable(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    // A progress bar overwrites the line after each carriage return, so the last part counts.
    let text = text.trim_end_matches(['\n', '\r']);
    let text = text.rsplit_once('\r').map_or(text, |(_, last)| last);
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => skip_escape(&mut rest),
            '\t' => clean.push('\t'),
            c if c.is_control() => {}
            c => clean.push(c),
        }
    }
    clean
}

/// Skips a terminal escape sequence.
fn skip_escape(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match rest.next() {
        Some('[') => {
            for c in rest.by_ref() {
                if ('@'..='~').contains(&c) {
                    return;
                }
            }
        }
        Some(']' | 'P' | '_' | '^') => {
            while let Some(c) = rest.next() {
                if c == '\u{7}' || (c == '\u{1b}' && rest.next_if_eq(&'\\').is_some()) {
                    return;
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::store::{Key, Store};

    /// A log that cannot be written, because its folder does not exist.
    fn nowhere() -> Option<Log> {
        let store = Store::open(&std::env::temp_dir(), &Key::of_user(&Default::default())).unwrap();
        Some(store.log("../nowhere"))
    }

    #[test]
    fn lines_are_whole_clean_and_few() {
        let mask = Mask::new(["hunter2"]);
        let project = std::env::temp_dir().join(format!("purlin-capture-{}", std::process::id()));
        std::fs::create_dir_all(&project).unwrap();
        let store = Store::open(&project, &Key::of_user(&Default::default())).unwrap();
        store.prepare().unwrap();
        let log = store.log("run.a");
        let mut capture = Capture::new(&mask, Some(log.clone()));
        let mut shown = Vec::new();
        let mut show = |line: &str| shown.push(line.to_owned());
        capture.push(Stream::Out, b"one\ntw", &mut show);
        capture.push(Stream::Err, b"\x1b[31mred\x1b[0m\x07\n", &mut show);
        capture.push(Stream::Out, b"o hunt", &mut show);
        capture.push(Stream::Out, b"er2\nlast", &mut show);
        let printed = capture.finish(&mut show);
        assert_eq!(shown, ["one", "red", "two (secret)", "last"]);
        assert_eq!(printed.out, "one\ntwo hunter2\nlast");
        assert_eq!(printed.tail.len(), 4);
        let logged = String::from_utf8(log.read().unwrap()).unwrap();
        assert!(logged.contains("(secret)") && !logged.contains("hunter2"), "{logged}");
        let _ = std::fs::remove_dir_all(&project);
    }

    #[test]
    fn colours_inside_of_a_secret_do_not_show_it() {
        let mask = Mask::new(["hunter2"]);
        let mut capture = Capture::new(&mask, None);
        let mut shown = Vec::new();
        let mut show = |line: &str| shown.push(line.to_owned());
        capture.push(Stream::Out, b"a hun\x1b[31mter\x1b[0m2 b\nhunt\x07er2", &mut show);
        let printed = capture.finish(&mut show);
        assert_eq!(shown, ["a (secret) b", "(secret)"]);
        assert_eq!(printed.tail, shown);
    }

    #[test]
    fn a_flood_is_cut() {
        let mask = Mask::default();
        let mut capture = Capture::new(&mask, nowhere());
        let piece = vec![b'x'; 64 << 10];
        let mut shown = 0;
        for _ in 0..1000 {
            capture.push(Stream::Out, &piece, &mut |line| shown += line.len() as u64);
        }
        assert!(capture.out.line.len() <= LONGEST_LINE && capture.end.len() <= 2 * LONGEST_END);
        assert!(shown <= LONGEST_LOG + (64 << 10), "{shown}");
        capture.push(Stream::Err, b"\nthe end\n", &mut |_| {});
        let printed = capture.finish(&mut |_| {});
        assert_eq!(printed.tail.last().map(String::as_str), Some("the end"));
        assert!(printed.overflow && printed.out.len() == LONGEST_OUTPUT && printed.tail.len() <= TAIL);
        assert!(printed.log_error.is_some());
    }
}
