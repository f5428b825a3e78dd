//! A terminal session as an animated picture: one scene after the other; only the first one without animation.
//!
//! Colours are those of the program. Must not know the contents of a session.

use std::fmt::Write;

/// A command with its output.
pub struct Scene {
    pub remark: &'static str,
    pub command: String,
    /// With colours, as for a terminal.
    pub output: String,
}

/// Duration of a scene in seconds.
const STAYS: usize = 9;
const WIDTH: usize = 1_000;
const LINE: usize = 20;
const TOP: usize = 62;
/// Characters per line; longer lines are cut, as in a narrow window.
const COLUMNS: usize = 112;

const STYLE: &str = "
.window { fill: #10151c } .bar { fill: #1c2430 } .dot { fill: #3b4757 }
text { font: 13.5px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #d7dee8; white-space: pre }
.remark { fill: #8592a3 } .prompt { fill: #5fd7a7 } .b { font-weight: 700 } .d { fill: #8592a3 }
.c31 { fill: #ff7b72 } .c32 { fill: #5fd7a7 } .c33 { fill: #e3b341 } .c34 { fill: #79b8ff } .c35 { fill: #d2a8ff } .c36 { fill: #76d9e6 }
.scene + .scene { opacity: 0 }
@media (prefers-reduced-motion: no-preference) { .scene { animation-duration: TOTALs; animation-iteration-count: infinite; animation-timing-function: step-end } }
";

/// The whole picture.
pub fn drawn(scenes: &[Scene]) -> String {
    let rows = scenes.iter().map(|scene| scene.output.trim_end().lines().count() + 3).max().unwrap_or(0);
    let height = TOP + rows * LINE;
    let total = scenes.len() * STAYS;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"purlin in a terminal: {}\">\n",
        escaped(&scenes.iter().map(|scene| scene.command.as_str()).collect::<Vec<_>>().join("; "))
    );
    let _ = writeln!(out, "<style>{}{}</style>", STYLE.replace("TOTAL", &total.to_string()), turns(scenes.len()));
    let _ = writeln!(out, "<rect class=\"window\" width=\"{WIDTH}\" height=\"{height}\" rx=\"10\"/>");
    let _ = writeln!(
        out,
        "<path class=\"bar\" d=\"M0 34V10A10 10 0 0 1 10 0H{}A10 10 0 0 1 {WIDTH} 10V34Z\"/>",
        WIDTH - 10
    );
    for x in [20, 40, 60] {
        let _ = writeln!(out, "<circle class=\"dot\" cx=\"{x}\" cy=\"17\" r=\"6\"/>");
    }
    for (number, scene) in scenes.iter().enumerate() {
        let _ = writeln!(out, "<g class=\"scene s{number}\">");
        draw(&mut out, scene);
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
}

/// The keyframes that show each scene.
fn turns(count: usize) -> String {
    let mut out = String::new();
    for number in 0..count {
        let (from, to) = (number * 100 / count, (number + 1) * 100 / count);
        let before = if number > 0 { "0%{opacity:0}" } else { "" };
        let after = if number + 1 < count { format!("{to}%{{opacity:0}}") } else { String::new() };
        let _ = writeln!(out, "@keyframes s{number} {{{before}{from}%{{opacity:1}}{after}100%{{opacity:0}}}}");
        let _ = writeln!(out, ".s{number} {{ animation-name: s{number} }}");
    }
    out
}

fn draw(out: &mut String, scene: &Scene) {
    let mut y = TOP;
    let mut row = |out: &mut String, inner: &str| {
        let _ = writeln!(out, "<text x=\"20\" y=\"{y}\" xml:space=\"preserve\">{inner}</text>");
        y += LINE;
    };
    row(out, &format!("<tspan class=\"remark\"># {}</tspan>", escaped(scene.remark)));
    row(out, &format!("<tspan class=\"prompt\">$</tspan> <tspan class=\"b\">{}</tspan>", escaped(&scene.command)));
    for line in scene.output.trim_end().lines() {
        row(out, &coloured(line));
    }
}

/// A line with its colours as classes.
fn coloured(line: &str) -> String {
    let (mut out, mut class, mut column) = (String::new(), String::new(), 0);
    for (number, part) in line.split("\u{1b}[").enumerate() {
        let text = match part.split_once('m').filter(|_| number > 0) {
            Some((codes, text)) => {
                class = classes(codes);
                text
            }
            None => part,
        };
        let room = COLUMNS.saturating_sub(column);
        let mut shown: String = text.chars().take(room).collect();
        column += text.chars().count();
        if column > COLUMNS && !shown.is_empty() {
            shown.pop();
            shown.push('…');
        }
        match (shown.is_empty(), class.is_empty()) {
            (true, _) => {}
            (false, true) => out.push_str(&escaped(&shown)),
            (false, false) => drop(write!(out, "<tspan class=\"{class}\">{}</tspan>", escaped(&shown))),
        }
    }
    out
}

fn classes(codes: &str) -> String {
    let class = |code: &str| match code {
        "1" => Some("b".to_owned()),
        "2" => Some("d".to_owned()),
        "31" | "32" | "33" | "34" | "35" | "36" => Some(format!("c{code}")),
        _ => None,
    };
    codes.split(';').filter_map(class).collect::<Vec<_>>().join(" ")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
