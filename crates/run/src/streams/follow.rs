//! Follows the output of processes that keep running.

use crate::local::persistent::Started;
use crate::store::Store;
use std::collections::BTreeMap;

/// Maximum number of bytes read from one process at a time; the rest follows later.
const AT_A_TIME: u64 = 64 << 10;

/// Processes whose output is followed.
#[derive(Debug, Default)]
pub struct Follow {
    /// By the key of each process.
    processes: BTreeMap<String, Output>,
}

/// The output of one process.
#[derive(Debug)]
struct Output {
    pid: u32,
    /// The position up to which it was read.
    at: u64,
    /// The incomplete last line.
    line: Vec<u8>,
}

impl Follow {
    /// Follows running processes from now on, skipping earlier output.
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

    /// New lines since the last call, each with the key of its process.
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
