//! The `purlin-fuzz` program.

#![allow(clippy::disallowed_methods)] // The surface is where the outside is touched.

use purlin_fuzz::arguments::{Arguments, Role};
use purlin_fuzz::{supervise, worker};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let code = match Arguments::read(&words) {
        Err(message) => {
            eprintln!("error: {message}");
            2
        }
        Ok(arguments) => match arguments.role {
            Role::Supervisor => supervise::run(&arguments),
            Role::Worker => worker::run(&arguments),
            Role::Once => worker::run_once(&arguments),
        },
    };
    std::process::exit(code);
}
