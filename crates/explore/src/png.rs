//! A picture as PNG: the shapes of a scene, and text in the font that is part of the program, so that the picture is
//! the same on every machine.
//!
//! Characters that the font lacks are drawn as its replacement glyph.

use purlin_compiler::picture::colours::{DARK, HUES, LIGHT, Paper, hue};
use purlin_compiler::picture::{Change, Scene, Shape, Stroke, WORDS_SIZE, line_words, tip_points, words};
use purlin_compiler::{Page, Point};
use tiny_skia::{Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, StrokeDash, Transform};
use ttf_parser::{Face, OutlineBuilder};

/// Roboto, reduced to Latin, Greek and Cyrillic.
const PLAIN: &[u8] = include_bytes!("../fonts/Roboto-Regular.ttf");
const BOLD: &[u8] = include_bytes!("../fonts/Roboto-Medium.ttf");

const MARGIN: f64 = 24.0;
const TITLE: f64 = 34.0;
const LEGEND: f64 = 40.0;
/// Pixels per unit of a picture, unless that exceeds the maximum.
const SCALE: f64 = 2.0;
/// Maximum number of pixels of a picture: 256 MB while it is drawn.
const MOST_PIXELS: f64 = 64_000_000.0;

/// Draws a picture.
///
/// # Errors
/// If the picture would be too large to open.
pub fn png(scene: &Scene, is_dark: bool, page: Page) -> Result<Vec<u8>, String> {
    let top = MARGIN + if scene.title.is_empty() { 0.0 } else { TITLE };
    let title = scene.title.join("  ·  ");
    let least = words::width(&title, 16.0, true).max(legend_width(scene));
    let (width, height) = (scene.width.max(least) + 2.0 * MARGIN, top + scene.height + MARGIN + LEGEND);
    let (wide, high) = page.fit(width, height);
    let scale = SCALE.min((MOST_PIXELS / (wide * high)).sqrt());
    if scale < 0.1 {
        return Err(format!("{wide:.0} × {high:.0} points are too many; show a part with `--focus` or `--kind`"));
    }
    let size = |length: f64| (length * scale).ceil().clamp(1.0, 60_000.0) as u32;
    let pixmap = Pixmap::new(size(wide), size(high)).ok_or("there is not enough memory for it")?;
    let faces = (Face::parse(PLAIN, 0), Face::parse(BOLD, 0));
    let (Ok(plain), Ok(bold)) = faces else { return Err("the font cannot be read".to_owned()) };
    let paper = if is_dark { DARK } else { LIGHT };
    let shift = ((wide - width) / 2.0, (high - height) / 2.0);
    let mut drawing = Drawing { pixmap, plain, bold, paper, is_dark, scale, shift };
    drawing.pixmap.fill(colour(paper.paper));
    drawing.heading(scene);
    drawing.shift = (shift.0 + MARGIN, shift.1 + top);
    scene.shapes.iter().filter(|shape| shape.is_open).for_each(|shape| drawing.shape(shape));
    scene.strokes.iter().for_each(|stroke| drawing.stroke(stroke));
    scene.shapes.iter().filter(|shape| !shape.is_open).for_each(|shape| drawing.shape(shape));
    for (at, text) in line_words(scene) {
        let left = at.x - words::width(&text, WORDS_SIZE, false) / 2.0;
        drawing.halo(&text, Point { x: left, y: at.y + 3.0 });
        drawing.text(&text, Point { x: left, y: at.y + 3.0 }, WORDS_SIZE, false, paper.pale);
    }
    drawing.shift = shift;
    drawing.legend(scene, top + scene.height + MARGIN + 8.0);
    drawing.pixmap.encode_png().map_err(|error| error.to_string())
}

/// The words of the legend: each dialect with its place among the hues, then those of lines.
fn legend_words(scene: &Scene) -> Vec<(Option<usize>, Option<bool>, String)> {
    let dialects = HUES.iter().enumerate().filter(|(_, known)| !known.dialect.is_empty());
    let used = dialects.filter(|(_, known)| scene.shapes.iter().any(|shape| shape.dialect == Some(known.dialect)));
    let mut found: Vec<_> = used.map(|(at, known)| (Some(at), None, known.dialect.to_owned())).collect();
    for (is_runtime, what) in [(false, "depends on"), (true, "depends on, once it has run")] {
        if scene.strokes.iter().any(|stroke| stroke.is_runtime == is_runtime) {
            found.push((None, Some(is_runtime), what.to_owned()));
        }
    }
    found.extend(scene.left_out.clone().map(|text| (None, None, text)));
    found
}

fn legend_width(scene: &Scene) -> f64 {
    let one = |(_, _, text): &(Option<usize>, Option<bool>, String)| words::width(text, 10.5, false) + 52.0;
    legend_words(scene).iter().map(one).sum()
}

struct Drawing<'f> {
    pixmap: Pixmap,
    plain: Face<'f>,
    bold: Face<'f>,
    paper: Paper,
    is_dark: bool,
    scale: f64,
    shift: (f64, f64),
}

impl Drawing<'_> {
    fn transform(&self) -> Transform {
        let scale = self.scale as f32;
        Transform::from_scale(scale, scale).pre_translate(self.shift.0 as f32, self.shift.1 as f32)
    }

    fn fill(&mut self, path: &Path, paint: Color) {
        let transform = self.transform();
        self.pixmap.fill_path(path, &painted(paint), FillRule::Winding, transform, None);
    }

    fn line(&mut self, path: &Path, paint: Color, width: f64, dashes: Option<[f32; 2]>) {
        let transform = self.transform();
        let dash = dashes.and_then(|dashes| StrokeDash::new(dashes.to_vec(), 0.0));
        let (line_cap, line_join) = (LineCap::Butt, LineJoin::Round);
        let stroke =
            tiny_skia::Stroke { width: width as f32, dash, line_cap, line_join, ..tiny_skia::Stroke::default() };
        self.pixmap.stroke_path(path, &painted(paint), &stroke, transform, None);
    }

    fn heading(&mut self, scene: &Scene) {
        let Some((project, rest)) = scene.title.split_first() else { return };
        let at = Point { x: MARGIN, y: MARGIN + 14.0 };
        let after = self.text(project, at, 16.0, true, self.paper.ink);
        self.text(&rest.join("  ·  "), Point { x: after + 12.0, ..at }, 10.5, false, self.paper.pale);
    }

    fn shape(&mut self, shape: &Shape) {
        let colours = &HUES[hue(shape.dialect)];
        let [rim, shades @ ..] = if self.is_dark { colours.dark } else { colours.light };
        let place = shape.place;
        let radius = if shape.is_group { 4.0 } else { 8.0 };
        let Some(path) = rounded(place.x, place.y, place.width, place.height, radius) else { return };
        let fade = if shape.is_disabled { 0.55 } else { 1.0 };
        let (fill, strength) = if shape.is_open { (shades[0], 0.35) } else { (shades[shape.shade.min(3)], 1.0) };
        self.fill(&path, faded(fill, strength * fade));
        let (rim, width) = match (shape.mark.is_broken, shape.mark.change) {
            (true, _) => (self.paper.wrong, 2.6),
            (_, Some(Change::Added | Change::Changed)) => (rim, 2.6),
            _ => (rim, 1.2),
        };
        let is_dashed = shape.is_disabled || shape.mark.change == Some(Change::Removed);
        self.line(&path, faded(rim, fade), width, is_dashed.then_some([4.0, 3.0]));
        if shape.contents > 0 && !shape.is_open {
            let y = place.y + place.height + 3.0;
            if let Some(more) = straight(Point { x: place.x + 8.0, y }, Point { x: place.x + place.width - 8.0, y }) {
                self.line(&more, colour(rim), 1.2, None);
            }
        }
        let x = place.x + 12.0;
        self.text(&shape.label, Point { x, y: place.y + 18.0 }, 13.0, true, self.paper.ink);
        self.text(&shape.subtitle, Point { x, y: place.y + 33.0 }, 10.5, false, self.paper.pale);
        let mark = shape.mark.words();
        if !mark.is_empty() {
            let left = place.x + place.width - 9.0 - words::width(&mark, 10.0, true);
            let ink = if shape.mark.is_broken { self.paper.wrong } else { self.paper.pale };
            self.text(&mark, Point { x: left, y: place.y + 17.0 }, 10.0, true, ink);
        }
    }

    fn stroke(&mut self, stroke: &Stroke) {
        let curve = &stroke.curve;
        let (first, second) = curve.controls();
        let mut path = PathBuilder::new();
        let xy = |point: Point| (point.x as f32, point.y as f32);
        let (start, turn, end, finish) = (xy(curve.start), xy(curve.turn), xy(curve.end), xy(curve.finish));
        path.move_to(start.0, start.1);
        path.line_to(turn.0, turn.1);
        let (first, second) = (xy(first), xy(second));
        path.cubic_to(first.0, first.1, second.0, second.1, end.0, end.1);
        path.line_to(finish.0, finish.1);
        let line = colour(self.paper.line);
        if let Some(path) = path.finish() {
            self.line(&path, line, 1.3, stroke.is_runtime.then_some([5.0, 4.0]));
        }
        let ends = [(stroke.tips.0, curve.end, curve.finish), (stroke.tips.1, curve.turn, curve.start)];
        for (_, before, end) in ends.into_iter().filter(|(has_tip, _, _)| *has_tip) {
            let towards = if before == end { curve.at(0.5) } else { before };
            let [a, b] = tip_points(towards, end, curve.is_vertical);
            if let Some(tip) = polygon([end, a, b]) {
                self.fill(&tip, line);
            }
        }
    }

    fn legend(&mut self, scene: &Scene, y: f64) {
        let mut x = MARGIN;
        for (dialect, line, text) in legend_words(scene) {
            if let Some(known) = dialect.and_then(|at| HUES.get(at)) {
                let [rim, _, fill, ..] = if self.is_dark { known.dark } else { known.light };
                if let Some(path) = rounded(x, y - 5.0, 14.0, 10.0, 3.0) {
                    self.fill(&path, colour(fill));
                    self.line(&path, colour(rim), 1.2, None);
                }
                x += 20.0;
            }
            if let Some(is_runtime) = line {
                let end = Point { x: x + 26.0, y };
                if let Some(path) = straight(Point { x, y }, end) {
                    self.line(&path, colour(self.paper.line), 1.3, is_runtime.then_some([5.0, 4.0]));
                }
                let [a, b] = tip_points(Point { x, y }, end, false);
                if let Some(tip) = polygon([end, a, b]) {
                    self.fill(&tip, colour(self.paper.line));
                }
                x += 34.0;
            }
            x = self.text(&text, Point { x, y: y + 4.0 }, 10.5, false, self.paper.pale) + 18.0;
        }
    }

    /// Writes a text; returns where it ends.
    fn text(&mut self, text: &str, at: Point, size: f64, is_bold: bool, ink: &str) -> f64 {
        let face = if is_bold { &self.bold } else { &self.plain };
        let (path, end) = outlines(face, text, at, size);
        if let Some(path) = path {
            self.fill(&path, colour(ink));
        }
        end
    }

    /// The outline that keeps the text of a line readable above other lines.
    fn halo(&mut self, text: &str, at: Point) {
        if let (Some(path), _) = outlines(&self.plain, text, at, WORDS_SIZE) {
            self.line(&path, colour(self.paper.paper), 3.0, None);
        }
    }
}

/// The outlines of a text, and its end.
fn outlines(face: &Face<'_>, text: &str, at: Point, size: f64) -> (Option<Path>, f64) {
    let scale = size / f64::from(face.units_per_em());
    let mut pen = Pen { path: PathBuilder::new(), at, scale };
    for c in text.chars() {
        let c = if c.is_control() { '\u{fffd}' } else { c };
        let glyph = face.glyph_index(c).or_else(|| face.glyph_index('\u{fffd}')).unwrap_or_default();
        face.outline_glyph(glyph, &mut pen);
        pen.at.x += f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * scale;
    }
    (pen.path.finish(), pen.at.x)
}

struct Pen {
    path: PathBuilder,
    at: Point,
    scale: f64,
}

impl Pen {
    fn point(&self, x: f32, y: f32) -> (f32, f32) {
        ((self.at.x + f64::from(x) * self.scale) as f32, (self.at.y - f64::from(y) * self.scale) as f32)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.point(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.point(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.point(x1, y1), self.point(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.point(x1, y1), self.point(x2, y2), self.point(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

fn rounded(x: f64, y: f64, width: f64, height: f64, radius: f64) -> Option<Path> {
    Rect::from_xywh(x as f32, y as f32, width as f32, height as f32)?;
    let (x, y, r) = (x as f32, y as f32, radius.min(width / 2.0).min(height / 2.0) as f32);
    let (right, bottom) = (x + width as f32, y + height as f32);
    // Distance of the control points of a quarter circle from its corner.
    let k = r * 0.447_715;
    let mut path = PathBuilder::new();
    path.move_to(x + r, y);
    path.line_to(right - r, y);
    path.cubic_to(right - k, y, right, y + k, right, y + r);
    path.line_to(right, bottom - r);
    path.cubic_to(right, bottom - k, right - k, bottom, right - r, bottom);
    path.line_to(x + r, bottom);
    path.cubic_to(x + k, bottom, x, bottom - k, x, bottom - r);
    path.line_to(x, y + r);
    path.cubic_to(x, y + k, x + k, y, x + r, y);
    path.close();
    path.finish()
}

fn straight(from: Point, to: Point) -> Option<Path> {
    let mut path = PathBuilder::new();
    path.move_to(from.x as f32, from.y as f32);
    path.line_to(to.x as f32, to.y as f32);
    path.finish()
}

fn polygon(points: [Point; 3]) -> Option<Path> {
    let mut path = PathBuilder::new();
    path.move_to(points[0].x as f32, points[0].y as f32);
    points.iter().skip(1).for_each(|point| path.line_to(point.x as f32, point.y as f32));
    path.close();
    path.finish()
}

fn painted(colour: Color) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(colour);
    paint
}

/// A colour of the palette: `#rrggbb`.
fn colour(text: &str) -> Color {
    faded(text, 1.0)
}

fn faded(text: &str, strength: f64) -> Color {
    let part = |at: usize| text.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or(0);
    Color::from_rgba8(part(1), part(3), part(5), (strength.clamp(0.0, 1.0) * 255.0) as u8)
}
