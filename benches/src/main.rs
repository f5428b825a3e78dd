//! `purlin-bench [NAME…] [--size N] [--seed N]`: generates inputs, measures, prints a table.
//!
//! Figures of one run are compared with each other: a ratio holds on any machine. `--check` counts instructions
//! instead, and fails if they grew; see `count.rs`. `--against` runs the original tools that are installed.

#![allow(clippy::disallowed_methods)] // Measuring needs a clock and a disk.

mod against;
mod charts;
mod count;
mod environments;
mod garden;
mod generate;
mod measure;
mod project;
mod reader;
mod repository;
mod scaling;
mod skaffold;
mod tosca;
mod unfurl;

use measure::Row;

/// The allocator of the released program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A measurement: its name, its purpose, and its function.
struct Bench {
    name: &'static str,
    summary: &'static str,
    run: fn(&Options) -> Vec<Row>,
    /// Whether it takes minutes, and runs only if it is named.
    is_long: bool,
}

/// The options of the command line.
pub(crate) struct Options {
    names: Vec<String>,
    /// A factor on the sizes of inputs.
    pub size: usize,
    pub seed: u64,
    /// Counts and compares instructions instead of time.
    check: bool,
    /// Stores the counts.
    update: bool,
    /// Compares with the original tools.
    against: bool,
}

const BENCHES: &[Bench] = &[
    Bench {
        name: "charts",
        summary: "a chart rendered: whole command, from disk, compiled once",
        run: charts::run,
        is_long: false,
    },
    Bench { name: "environments", summary: "ten environments beside one", run: environments::run, is_long: false },
    Bench { name: "garden", summary: "Garden projects resolved completely", run: garden::run, is_long: false },
    Bench {
        name: "project",
        summary: "five dialects in one project; ten environments beside one",
        run: project::run,
        is_long: false,
    },
    Bench { name: "reader", summary: "YAML to tree, beside the bare event stream", run: reader::run, is_long: false },
    Bench {
        name: "repository",
        summary: "check of repositories, on one thread and two",
        run: repository::run,
        is_long: false,
    },
    Bench {
        name: "scaling",
        summary: "what only one thread can do, by instructions",
        run: scaling::run,
        is_long: true,
    },
    Bench {
        name: "skaffold",
        summary: "chains, stars and diamonds of Skaffold modules",
        run: skaffold::run,
        is_long: false,
    },
    Bench {
        name: "unfurl",
        summary: "expressions, and ensembles with all attributes",
        run: unfurl::run,
        is_long: false,
    },
    Bench {
        name: "unfurl-load",
        summary: "one ensemble, for counting instructions",
        run: unfurl::load_once,
        is_long: false,
    },
    Bench { name: "survey", summary: "1,000 files of 2 KB read and parsed", run: reader::survey, is_long: false },
];

fn options() -> Result<Options, String> {
    let mut options = Options { names: Vec::new(), size: 1, seed: 1, check: false, update: false, against: false };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = |name: &str| -> Result<u64, String> {
            let text = args.next().ok_or(format!("{name} needs a number"))?;
            text.parse().map_err(|_| format!("`{text}` is not a number"))
        };
        match arg.as_str() {
            "--size" => options.size = usize::try_from(number("--size")?).unwrap_or(1).max(1),
            "--seed" => options.seed = number("--seed")?,
            "--check" => options.check = true,
            "--update" => options.update = true,
            "--against" => options.against = true,
            "--list" => {
                for bench in BENCHES {
                    println!("{:<12} {}", bench.name, bench.summary);
                }
                std::process::exit(0);
            }
            name if BENCHES.iter().any(|bench| bench.name == name) => options.names.push(name.to_owned()),
            other => return Err(format!("there is no measurement `{other}`; `--list` names them")),
        }
    }
    Ok(options)
}

fn main() {
    let options = match options() {
        Ok(options) => options,
        Err(message) => {
            eprintln!("error: {message}");
            std::process::exit(2);
        }
    };
    if options.check {
        std::process::exit(match count::check(options.update) {
            Ok(holds) => i32::from(!holds),
            Err(message) => {
                eprintln!("error: {message}");
                2
            }
        });
    }
    if options.against {
        if let Err(message) = against::against() {
            eprintln!("error: {message}");
            std::process::exit(2);
        }
        return;
    }
    println!("{:<44} {:>14} {:>10}  remark", "what", "figure", "unit");
    for bench in BENCHES {
        if (options.names.is_empty() && !bench.is_long) || options.names.iter().any(|name| name == bench.name) {
            for row in (bench.run)(&options) {
                println!("{row}");
            }
        }
    }
}
