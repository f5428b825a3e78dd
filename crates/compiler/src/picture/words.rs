//! Estimates the width of text without a font: the widths of a common one, and guesses for missing characters.
//!
//! Readers of an SVG have other fonts, which are a little wider or narrower; boxes leave room for that.

/// The first character of the tables.
const FIRST: u32 = 32;

/// Widths of ASCII characters, in thousandths of the size of the font.
#[rustfmt::skip]
const PLAIN: [u16; 95] = [
    248, 258, 320, 616, 562, 732, 622, 175, 342, 348, 431, 567, 197, 276, 264, 413,
    562, 562, 562, 562, 562, 562, 562, 562, 562, 562, 242, 211, 508, 549, 523, 473,
    898, 652, 623, 651, 656, 568, 553, 681, 713, 272, 552, 627, 539, 873, 713, 688,
    631, 688, 616, 594, 597, 648, 637, 887, 627, 601, 599, 265, 411, 265, 418, 451,
    309, 544, 562, 523, 564, 530, 348, 562, 551, 243, 239, 507, 243, 877, 552, 570,
    562, 568, 339, 516, 327, 551, 484, 751, 496, 473, 496, 338, 244, 338, 680,
];

/// Likewise, for bold text.
#[rustfmt::skip]
const BOLD: [u16; 95] = [
    249, 268, 324, 610, 568, 734, 639, 169, 349, 353, 442, 558, 220, 329, 279, 396,
    568, 568, 568, 568, 568, 568, 568, 568, 568, 568, 265, 238, 508, 560, 521, 487,
    895, 666, 631, 653, 653, 565, 550, 681, 711, 282, 555, 630, 542, 875, 710, 690,
    640, 690, 625, 604, 607, 652, 647, 880, 633, 609, 603, 274, 418, 274, 428, 451,
    322, 542, 563, 524, 565, 537, 354, 567, 555, 256, 250, 522, 256, 871, 556, 569,
    563, 568, 352, 517, 333, 556, 495, 743, 503, 487, 503, 335, 251, 335, 665,
];

/// Other scripts than Latin, Greek and Cyrillic are about as wide as high.
const FIRST_WIDE: u32 = 0x1100;
/// Factor by which other systems' fonts are wider.
const ROOM: f64 = 1.06;

/// The width of a text in a font of some size.
pub fn width(text: &str, size: f64, is_bold: bool) -> f64 {
    let table = if is_bold { &BOLD } else { &PLAIN };
    let one = |c: char| {
        let code = u32::from(c);
        let known = code.checked_sub(FIRST).and_then(|at| table.get(at as usize));
        known.map_or(if code >= FIRST_WIDE && !(0x2000..0x2e80).contains(&code) { 1_000 } else { 620 }, |width| {
            u32::from(*width)
        })
    };
    f64::from(text.chars().map(one).sum::<u32>()) / 1_000.0 * size * ROOM
}
