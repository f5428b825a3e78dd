//! Programs that would never end, or use all memory, without limits: small inputs of every class for every dialect.
//!
//! They are generated, not stored. `tests/tests/bounded.rs` runs each under a memory limit and checks the exit code.

mod charts;
mod garden;
mod kustomize;
mod lists;
mod products;
mod skaffold;
mod tosca;
mod unfurl;
mod yaml;

/// The expected end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Ended by a limit: exit code 3.
    Limit,
    /// Success: exit code 0.
    Fine,
    /// With any answer: only the cost matters.
    Answered,
}

/// One input: files, a command, and how it must end.
#[derive(Clone, Debug)]
pub struct Input {
    /// `dialect/class/case`.
    pub name: String,
    /// Paths with contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// The arguments of `purlin`.
    pub args: Vec<String>,
    /// The expected end.
    pub ends: Ends,
}

impl Input {
    /// An input with one command.
    pub fn new(name: impl Into<String>, command: &str, ends: Ends) -> Self {
        let args = command.split_whitespace().map(str::to_owned).collect();
        Input { name: name.into(), files: Vec::new(), args, ends }
    }

    /// The same with one more argument, which may hold spaces.
    pub fn argument(mut self, argument: impl Into<String>) -> Self {
        self.args.push(argument.into());
        self
    }

    /// The same with one more file.
    pub fn file(mut self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.files.push((path.to_owned(), content.into()));
        self
    }
}

/// The same in a folder that holds many files.
fn crowded(input: Input) -> Input {
    (0..2_000).fold(input, |input, at| input.file(&format!("file{at}.txt"), ""))
}

/// All inputs.
pub fn inputs() -> Vec<Input> {
    let dialects: [fn() -> Vec<Input>; 9] = [
        garden::inputs,
        charts::inputs,
        unfurl::inputs,
        tosca::inputs,
        skaffold::inputs,
        kustomize::inputs,
        yaml::inputs,
        lists::inputs,
        products::inputs,
    ];
    dialects.into_iter().flat_map(|inputs| inputs()).collect()
}
