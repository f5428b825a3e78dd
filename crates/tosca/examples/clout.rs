//! Compiles a service template and writes its Clout; for measuring.
//!
//! `cargo run --release -p purlin-tosca --example clout -- FILE [raw]`

#![allow(clippy::disallowed_methods)] // an example stands outside and reads files itself

use purlin_syntax::write::{JsonFlavor, JsonLayout, JsonWriter};
use purlin_tosca::clout::{self, Form};
use purlin_tosca::compile::{Settings, compile};
use purlin_value::{MemoryWorld, Session};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

fn main() {
    let mut args = std::env::args().skip(1);
    let Some(file) = args.next() else {
        eprintln!("usage: clout FILE [raw]");
        return;
    };
    let form = if args.next().as_deref() == Some("raw") { Form::Raw } else { Form::Coerced };
    let folder = Path::new(&file).parent().unwrap_or(Path::new("."));
    let mut world = MemoryWorld::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let wanted = Path::new(&file).file_name().is_some_and(|wanted| *wanted == *entry.file_name());
        if (wanted || name.starts_with('f'))
            && let Ok(bytes) = std::fs::read(entry.path())
        {
            world = world.bytes(&name, &bytes);
        }
    }
    let name = Path::new(&file).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let session = Session::new(Arc::new(world));
    let start = std::time::Instant::now();
    let compiled = compile(&session, &name, &Settings::default());
    let compiling = start.elapsed();
    let mut writer = JsonWriter::with_limit(JsonLayout::Pretty, JsonFlavor::Plain, usize::MAX);
    clout::write(&compiled, clout::Options { form, resolved: true }, &mut writer);
    let text = writer.finish().unwrap_or_default();
    let writing = start.elapsed() - compiling;
    let problems = compiled.problems.len();
    let _ = writeln!(
        std::io::stderr(),
        "compile {compiling:?}, write {writing:?}, {} bytes, {problems} problems",
        text.len()
    );
    let _ = std::io::stdout().write_all(text.as_bytes());
}
