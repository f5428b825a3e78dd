//! `--check`: instructions of the program itself, counted by callgrind, one row per dialect at two sizes.
//!
//! Counts do not depend on the load of the machine, so they can be compared with stored figures. A row fails if it
//! costs more than [`MOST_ABOVE`] over its stored figure, or grows faster than [`STEEPEST`]. `--update` stores the new
//! counts. The program is expected next to this one: build both with `cargo build --release`.

use crate::{charts, environments, garden, repository, skaffold, tosca, unfurl};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Allowed increase of a row over the stored figure.
const MOST_ABOVE: f64 = 0.05;

/// Maximum exponent of the growth of cost.
const STEEPEST: f64 = 1.10;

/// The file of the stored figures.
const STORED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.txt");

/// The first lines of that file.
const HEAD: &str = "# Instructions by dialect and size; `purlin-bench --check` compares, `--check --update` stores.\n";

/// A project in a folder, the working directory, and the command.
struct Probe {
    name: &'static str,
    sizes: [usize; 2],
    write: fn(&Path, usize) -> std::io::Result<()>,
    stand: &'static str,
    args: &'static [&'static str],
}

const PROBES: &[Probe] = &[
    Probe {
        name: "garden",
        sizes: [250, 1_000],
        write: garden::actions,
        stand: ".",
        args: &["resolve", "--threads", "1"],
    },
    Probe {
        name: "skaffold",
        sizes: [250, 1_000],
        write: skaffold::write_chain,
        stand: "m0",
        args: &["skaffold", "diagnose", "--yaml-only"],
    },
    Probe {
        name: "tosca",
        sizes: [250, 1_000],
        write: tosca::write,
        stand: ".",
        args: &["resolve", "service.yaml", "--threads", "1"],
    },
    Probe {
        name: "unfurl",
        sizes: [250, 1_000],
        write: unfurl::write,
        stand: ".",
        args: &["resolve", "--threads", "1"],
    },
    Probe {
        name: "charts",
        sizes: [250, 1_000],
        write: charts::write_many,
        stand: ".",
        args: &["render", "--threads", "1"],
    },
    Probe {
        name: "repository-of-charts",
        sizes: [20, 80],
        write: repository::charts,
        stand: ".",
        args: &["check", "--threads", "1"],
    },
    Probe {
        name: "repository-mixed",
        sizes: [5, 20],
        write: repository::mixed,
        stand: ".",
        args: &["check", "--threads", "1"],
    },
    Probe {
        name: "garden-environments-differing",
        sizes: [1, 10],
        write: environments::garden_differing,
        stand: ".",
        args: &["check", "--threads", "1"],
    },
    Probe {
        name: "garden-environments-sharing",
        sizes: [1, 10],
        write: environments::garden_sharing,
        stand: ".",
        args: &["check", "--threads", "1"],
    },
    Probe {
        name: "chart-environments-differing",
        sizes: [1, 10],
        write: environments::chart_differing,
        stand: ".",
        args: &["check", "--threads", "1"],
    },
    Probe {
        name: "chart-environments-sharing",
        sizes: [1, 10],
        write: environments::chart_sharing,
        stand: ".",
        args: &["check", "--threads", "1"],
    },
];

/// Counts all rows and compares them. Returns whether all hold.
pub(crate) fn check(update: bool) -> Result<bool, String> {
    let program = program()?;
    let stored = stored();
    let mut counted = Vec::new();
    let mut holds = true;
    println!(
        "{:<30} {:>6} {:>16} {:>16} {:>9} {:>9}",
        "dialect", "size", "instructions", "stored", "change", "exponent"
    );
    for probe in PROBES {
        let mut smaller: Option<(usize, u64)> = None;
        for size in probe.sizes {
            let count = count(&program, probe, size)?;
            let before = stored.iter().find(|(name, at, _)| name == probe.name && *at == size).map(|row| row.2);
            let change = before.map(|before| count as f64 / before as f64 - 1.0);
            let exponent = smaller.map(|(size_before, count_before)| {
                (count as f64 / count_before as f64).ln() / (size as f64 / size_before as f64).ln()
            });
            let is_above = change.is_some_and(|change| change > MOST_ABOVE) && !update;
            let is_steep = exponent.is_some_and(|exponent| exponent > STEEPEST);
            holds &= !is_above && !is_steep && (before.is_some() || update);
            println!(
                "{:<30} {size:>6} {count:>16} {:>16} {:>9} {:>9}{}",
                probe.name,
                before.map_or("none".to_owned(), |before| before.to_string()),
                change.map_or(String::new(), |change| format!("{:+.1} %", change * 100.0)),
                exponent.map_or(String::new(), |exponent| format!("{exponent:.3}")),
                if is_above || is_steep { "  FAILS" } else { "" },
            );
            counted.push((probe.name, size, count));
            smaller = Some((size, count));
        }
    }
    if update {
        let rows: String = counted.iter().map(|(name, size, count)| format!("{name} {size} {count}\n")).collect();
        std::fs::write(STORED, format!("{HEAD}{rows}")).map_err(|error| format!("{STORED}: {error}"))?;
    }
    Ok(holds)
}

/// The program that is measured, beside this one.
pub(crate) fn program() -> Result<PathBuf, String> {
    let here = std::env::current_exe().map_err(|error| error.to_string())?;
    let program = here.with_file_name("purlin");
    if program.is_file() { Ok(program) } else { Err("build the program first: `cargo build --release`".to_owned()) }
}

fn stored() -> Vec<(String, usize, u64)> {
    let text = std::fs::read_to_string(STORED).unwrap_or_default();
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    };
    text.lines().filter_map(row).collect()
}

/// Writes a project and counts what one run on it costs.
fn count(program: &Path, probe: &Probe, size: usize) -> Result<u64, String> {
    let folder = std::env::temp_dir().join(format!("purlin-count-{}-{size}-{}", probe.name, std::process::id()));
    let counted = (probe.write)(&folder, size)
        .map_err(|error| error.to_string())
        .and_then(|()| callgrind(program, &folder.join(probe.stand), probe.args));
    let _ = std::fs::remove_dir_all(&folder);
    counted.map_err(|why| format!("{} {size}: {why}", probe.name))
}

fn callgrind(program: &Path, folder: &Path, args: &[&str]) -> Result<u64, String> {
    let told = valgrind(program, folder, &["--callgrind-out-file=/dev/null"], args)?;
    let number = told.lines().find_map(|line| line.split("Collected : ").nth(1)?.trim().parse().ok());
    number.ok_or_else(|| format!("callgrind did not say what it counted:\n{told}"))
}

/// Runs the program under callgrind, and returns what callgrind wrote.
pub(crate) fn valgrind(program: &Path, folder: &Path, options: &[&str], args: &[&str]) -> Result<String, String> {
    let run = Command::new("valgrind")
        .arg("--tool=callgrind")
        .args(options)
        .arg(program)
        .args(args)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .env("USER", "user")
        .output()
        .map_err(|error| format!("could not run valgrind: {error}"))?;
    let told = String::from_utf8_lossy(&run.stderr).into_owned();
    if !run.status.success() {
        return Err(format!("the program failed:\n{told}"));
    }
    Ok(told)
}
