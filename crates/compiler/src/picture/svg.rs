//! A picture as SVG: boxes with their words, lines with theirs, a title above, a legend below.
//!
//! Colours are rules of the picture's own style, so that it follows the reader's choice of light or dark.

use super::colours::{DARK, HUES, Hue, LIGHT, Paper, hue};
use super::{BOX_HEIGHT, Change, Scene, Shape, Stroke, WORDS_SIZE, words};
use crate::graph::{Page, Theme};
use crate::layout::{Place, Point};
use std::fmt::Write;

const MARGIN: f64 = 24.0;
const TITLE: f64 = 34.0;
const LEGEND: f64 = 40.0;

/// Draws a picture.
pub fn svg(scene: &Scene, theme: Theme, page: Page) -> String {
    let mut out = String::new();
    let top = MARGIN + if scene.title.is_empty() { 0.0 } else { TITLE };
    let legend = legend(scene, top + scene.height + MARGIN + 8.0);
    let (width, height) =
        (scene.width.max(legend.1).max(title_width(scene)) + 2.0 * MARGIN, top + scene.height + MARGIN + LEGEND);
    let (wide, high) = page.fit(width, height);
    let (left, above) = ((width - wide) / 2.0, (height - high) / 2.0);
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide:.0}\" height=\"{high:.0}\" viewBox=\"{left:.0} {above:.0} {wide:.0} {high:.0}\" font-family=\"system-ui, Roboto, sans-serif\">"
    );
    let _ = writeln!(out, "<title>{}</title>", escape(&scene.title.join(" · ")));
    let _ = writeln!(out, "<style>{}</style>", style(theme));
    let _ = writeln!(
        out,
        "<rect x=\"{left:.0}\" y=\"{above:.0}\" width=\"{wide:.0}\" height=\"{high:.0}\" class=\"paper\"/>"
    );
    title(&mut out, scene);
    let _ = writeln!(out, "<g transform=\"translate({MARGIN} {top})\">");
    scene.shapes.iter().filter(|shape| shape.is_open).for_each(|shape| node(&mut out, shape));
    scene.strokes.iter().for_each(|one| stroke(&mut out, one));
    scene.shapes.iter().filter(|shape| !shape.is_open).for_each(|shape| node(&mut out, shape));
    for (at, text) in line_words(scene) {
        let _ = writeln!(out, "<text x=\"{:.0}\" y=\"{:.1}\" class=\"on\">{}</text>", at.x, at.y + 3.0, escape(&text));
    }
    out.push_str("</g>\n");
    out.push_str(&legend.0);
    out.push_str("</svg>\n");
    out
}

fn title_width(scene: &Scene) -> f64 {
    words::width(&scene.title.join("  ·  "), 16.0, true)
}

fn title(out: &mut String, scene: &Scene) {
    let Some((project, rest)) = scene.title.split_first() else { return };
    let _ = write!(out, "<text x=\"{MARGIN}\" y=\"{:.0}\" class=\"head\">{}", MARGIN + 14.0, escape(project));
    if !rest.is_empty() {
        let _ = write!(out, "<tspan class=\"kind\" dx=\"12\">{}</tspan>", escape(&rest.join("  ·  ")));
    }
    out.push_str("</text>\n");
}

fn stroke(out: &mut String, stroke: &Stroke) {
    let curve = &stroke.curve;
    let (first, second) = curve.controls();
    let Point { x, y } = curve.start;
    let mut path = format!("M{x:.1} {y:.1}");
    if curve.turn != curve.start {
        let _ = write!(path, "L{:.1} {:.1}", curve.turn.x, curve.turn.y);
    }
    let _ = write!(
        path,
        "C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}",
        first.x, first.y, second.x, second.y, curve.end.x, curve.end.y
    );
    if curve.finish != curve.end {
        let _ = write!(path, "L{:.1} {:.1}", curve.finish.x, curve.finish.y);
    }
    let kind = if stroke.is_runtime { " run" } else { "" };
    let _ = writeln!(out, "<path d=\"{path}\" class=\"line{kind}\"/>");
    let ends = [(stroke.tips.0, curve.end, curve.finish), (stroke.tips.1, curve.turn, curve.start)];
    for (_, before, end) in ends.into_iter().filter(|(has_tip, _, _)| *has_tip) {
        let towards = if before == end { curve.at(0.5) } else { before };
        let _ = writeln!(out, "<path d=\"{}\" class=\"tip\"/>", tip(towards, end, curve.is_vertical));
    }
}

/// The path of an arrow's tip.
pub(super) fn tip(before: Point, end: Point, is_vertical: bool) -> String {
    let [a, b] = tip_points(before, end, is_vertical);
    format!("M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}z", end.x, end.y, a.x, a.y, b.x, b.y)
}

/// The two corners of an arrow's tip beside its point.
pub fn tip_points(before: Point, end: Point, is_vertical: bool) -> [Point; 2] {
    const LONG: f64 = 8.0;
    const WIDE: f64 = 3.6;
    if is_vertical {
        let back = if before.y < end.y { -LONG } else { LONG };
        [Point { x: end.x - WIDE, y: end.y + back }, Point { x: end.x + WIDE, y: end.y + back }]
    } else {
        let back = if before.x < end.x { -LONG } else { LONG };
        [Point { x: end.x + back, y: end.y - WIDE }, Point { x: end.x + back, y: end.y + WIDE }]
    }
}

/// The labels of lines, each in the middle of a piece that only this line has, where they cover nothing else.
pub fn line_words(scene: &Scene) -> Vec<(Point, String)> {
    let mut uses = vec![0usize; scene.strokes.len()];
    scene.links.iter().flat_map(|link| &link.way).for_each(|&at| uses[at] += 1);
    let mut taken: Vec<Place> = Vec::new();
    let mut found = Vec::new();
    for link in &scene.links {
        let text = link.words();
        if text.is_empty() {
            continue;
        }
        let own = link.way.iter().filter(|at| uses[**at] == 1).chain(&link.way);
        let width = words::width(&text, WORDS_SIZE, false) + 6.0;
        let room = |at: Point| Place { x: at.x - width / 2.0, y: at.y - 6.0, width, height: 12.0 };
        let is_free = |place: &Place| {
            !taken.iter().any(|other| overlap(place, other))
                && !scene.shapes.iter().any(|shape| {
                    let held =
                        Place { height: if shape.is_open { BOX_HEIGHT } else { shape.place.height }, ..shape.place };
                    overlap(place, &held)
                })
        };
        let places = own
            .filter_map(|&at| scene.strokes.get(at))
            .take(3)
            .flat_map(|stroke| [0.5, 0.35, 0.65].map(|part| stroke.curve.at(part)));
        if let Some(at) = places.into_iter().find(|at| is_free(&room(*at))) {
            taken.push(room(at));
            found.push((at, text));
        }
    }
    found
}

fn overlap(one: &Place, other: &Place) -> bool {
    one.x < other.x + other.width
        && other.x < one.x + one.width
        && one.y < other.y + other.height
        && other.y < one.y + one.height
}

fn node(out: &mut String, shape: &Shape) {
    let Place { x, y, width, height } = shape.place;
    let off = if shape.is_disabled { " off" } else { "" };
    let change = match (shape.mark.is_broken, shape.mark.change) {
        (true, _) => " broken",
        (_, Some(Change::Added)) => " added",
        (_, Some(Change::Removed)) => " removed",
        (_, Some(Change::Changed)) => " changed",
        (_, None) => "",
    };
    let colour = match shape.is_open {
        true => format!("h{} open", hue(shape.dialect)),
        false => format!("h{0} h{0}s{1}", hue(shape.dialect), shape.shade),
    };
    let radius = if shape.is_group { 4 } else { 8 };
    let _ = write!(
        out,
        "<g><title>{}</title><rect x=\"{x:.0}\" y=\"{y:.1}\" width=\"{width:.0}\" height=\"{height:.1}\" rx=\"{radius}\" class=\"box {colour}{off}{change}\"/>",
        escape(&shape.id),
    );
    if shape.contents > 0 && !shape.is_open {
        let _ = write!(
            out,
            "<path d=\"M{:.0} {:.1}h{:.0}\" class=\"more h{}\"/>",
            x + 8.0,
            y + height + 3.0,
            width - 16.0,
            hue(shape.dialect)
        );
    }
    let _ =
        write!(out, "<text x=\"{:.0}\" y=\"{:.1}\" class=\"id\">{}</text>", x + 12.0, y + 18.0, escape(&shape.label));
    let _ = write!(
        out,
        "<text x=\"{:.0}\" y=\"{:.1}\" class=\"kind\">{}</text>",
        x + 12.0,
        y + 33.0,
        escape(&shape.subtitle)
    );
    let mark = shape.mark.words();
    if !mark.is_empty() {
        let _ = write!(
            out,
            "<text x=\"{:.0}\" y=\"{:.1}\" class=\"mark{}\">{}</text>",
            x + width - 9.0,
            y + 17.0,
            if shape.mark.is_broken { " wrong" } else { "" },
            escape(&mark)
        );
    }
    out.push_str("</g>\n");
}

/// Meaning of colours and lines, and the omitted parts; with its width.
fn legend(scene: &Scene, y: f64) -> (String, f64) {
    let (mut text, mut x) = (String::new(), MARGIN);
    let word = |text: &mut String, x: &mut f64, word: &str| {
        let _ = writeln!(text, "<text x=\"{x:.0}\" y=\"{:.0}\" class=\"kind\">{}</text>", y + 4.0, escape(word));
        *x += words::width(word, 10.5, false) + 18.0;
    };
    for (at, known) in HUES.iter().enumerate().filter(|(_, known)| !known.dialect.is_empty()) {
        if scene.shapes.iter().any(|shape| shape.dialect == Some(known.dialect)) {
            let _ = writeln!(
                text,
                "<rect x=\"{x:.0}\" y=\"{:.0}\" width=\"14\" height=\"10\" rx=\"3\" class=\"box h{at} h{at}s1\"/>",
                y - 5.0
            );
            x += 20.0;
            word(&mut text, &mut x, known.dialect);
        }
    }
    for (is_runtime, what) in [(false, "depends on"), (true, "depends on, once it has run")] {
        if scene.strokes.iter().any(|stroke| stroke.is_runtime == is_runtime) {
            let class = if is_runtime { "line run" } else { "line" };
            let end = Point { x: x + 26.0, y };
            let _ = writeln!(text, "<path d=\"M{x:.0} {y:.0}h26\" class=\"{class}\"/>");
            let _ = writeln!(text, "<path d=\"{}\" class=\"tip\"/>", tip(Point { x, y }, end, false));
            x += 34.0;
            word(&mut text, &mut x, what);
        }
    }
    if let Some(left_out) = &scene.left_out {
        word(&mut text, &mut x, left_out);
    }
    (text, x - MARGIN)
}

fn style(theme: Theme) -> String {
    let mut out = format!(
        ".head{{font-size:16px;font-weight:600}}.id{{font-size:13px;font-weight:600}}.kind{{font-size:10.5px;font-weight:400}}.on{{font-size:{WORDS_SIZE}px;text-anchor:middle;stroke-width:3px;paint-order:stroke;stroke-linejoin:round}}.mark{{font-size:10px;font-weight:600;text-anchor:end}}.box{{stroke-width:1.2}}.open{{fill-opacity:.35}}.line{{fill:none;stroke-width:1.3}}.run{{stroke-dasharray:5 4}}.more{{fill:none;stroke-width:1.2}}.off{{stroke-dasharray:4 3;opacity:.55}}.broken,.changed,.added{{stroke-width:2.6}}.removed{{stroke-width:2;stroke-dasharray:3 3;opacity:.7}}"
    );
    let light = || rules(&LIGHT, |hue| hue.light);
    let dark = || rules(&DARK, |hue| hue.dark);
    out.push_str(&match theme {
        Theme::Light => light(),
        Theme::Dark => dark(),
        Theme::Auto => format!("{}@media(prefers-color-scheme:dark){{{}}}", light(), dark()),
    });
    out
}

fn rules(paper: &Paper, of: fn(&Hue) -> [&'static str; 5]) -> String {
    let Paper { paper, ink, pale, line, wrong } = paper;
    let mut out = format!(
        ".paper{{fill:{paper}}}.id,.head{{fill:{ink}}}.kind,.mark{{fill:{pale}}}.on{{fill:{pale};stroke:{paper}}}.line{{stroke:{line}}}.tip{{fill:{line}}}"
    );
    for (at, hue) in HUES.iter().enumerate() {
        let [rim, shades @ ..] = of(hue);
        let _ = write!(out, ".h{at}{{stroke:{rim}}}.open.h{at}{{fill:{}}}", shades[0]);
        for (number, fill) in shades.iter().enumerate() {
            let _ = write!(out, ".h{at}s{number}{{fill:{fill}}}");
        }
    }
    let _ = write!(out, ".broken{{stroke:{wrong}}}.wrong{{fill:{wrong}}}");
    out
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
