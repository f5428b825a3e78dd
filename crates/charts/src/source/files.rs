//! Locations of the files that templates read with `.Files`.

use purlin_value::{Origin, Session, path};

use crate::chart::Chart;

/// Text in a template that reads files.
const READS: &[u8] = b".Files";

/// Gives the files of a chart, and of those inside it, their origins, if a template of theirs may read them. Archives
/// have no files of their own.
pub fn locate(session: &Session, chart: &mut Chart) {
    if reads_files(chart) {
        locate_all(session, chart);
    }
}

/// Depth is that of charts inside charts, which the loader bounds.
fn reads_files(chart: &Chart) -> bool {
    let says_so = |bytes: &[u8]| bytes.windows(READS.len()).any(|window| window == READS);
    chart.templates.iter().any(|template| says_so(&template.bytes)) || chart.dependencies.iter().any(reads_files)
}

fn locate_all(session: &Session, chart: &mut Chart) {
    for file in &mut chart.files {
        let place = path::join(&chart.folder, &file.name);
        let is_text = std::str::from_utf8(&file.bytes).is_ok() && session.world.exists(&place);
        let text = if is_text { session.load_text(&place, &place).ok() } else { None };
        let whole = |source: &purlin_syntax::Source| source.span(0, source.text().trim_end().len());
        file.origin = text.map_or(Origin::NONE, |text| session.origins.file(whole(&text.source)));
    }
    chart.dependencies.iter_mut().for_each(|inner| locate_all(session, inner));
}
