//! What processes that keep running print, from where it was read last.

use crate::local::persistent::Started;
use crate::store::Store;
use std::collections::BTreeMap;

/// So many bytes of one process are taken at a time; the rest comes with the next look.
const AT_A_TIME: u64 = 64 << 10;

/// Processes whose output is followed.
#[derive(Debug, Default)]
pub struct Follow {
    /// By what each is kept under.
    processes: BTreeMap<String, Output>,
}

/// The output of one process.
#[derive(Debug)]
struct Output {
    pid: u32,
    /// How far it was read.
    at: u64,
    /// The beginning of a line.
    line: Vec<u8>,
}

impl Follow {
    /// Follows what runs now from here on: what it has printed so far is for others.
    pub fn from_now(store: &Store) -> Self {
        let mut follow = Follow::default();
        follow.meet(store);
        for (id, output) in &mut follow.processes {
            output.at = store.log(id).length();
        }
        follow
    }

    /// Also follows processes that were started since, from their beginning.
    pub fn meet(&mut self, store: &Store) {
        for id in store.ids() {
            let Some(started) = Started::read(&store.deploy_note(&id)) else { continue };
            if self.processes.get(&id).is_none_or(|known| known.pid != started.pid) {
                self.processes.insert(id, Output { pid: started.pid, at: 0, line: Vec::new() });
            }
        }
    }

    /// The lines that came since the last look, each with what its process is kept under.
    pub fn look(&mut self, store: &Store) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for (id, output) in &mut self.processes {
            let bytes = store.log(id).read_from(output.at, AT_A_TIME).unwrap_or_default();
            output.at += bytes.len() as u64;
            for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
                output.line.extend_from_slice(piece);
                if let Some(line) = output.line.strip_suffix(b"\n") {
                    let text = String::from_utf8_lossy(line);
                    found.push((id.clone(), text.trim_end_matches('\r').to_owned()));
                    output.line.clear();
                }
            }
        }
        found
    }
}
