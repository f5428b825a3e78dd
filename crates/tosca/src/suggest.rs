//! The name that was probably meant.

/// The nearest of some names, if one is near enough to be worth mentioning.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).clamp(1, 3);
    known
        .into_iter()
        .filter(|other| *other != name && other.len().abs_diff(name.len()) <= limit * 2)
        .map(|other| (distance(name, other, limit), other))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, other)| other)
}

/// How many letters must change, beyond `limit` only that there are more.
fn distance(a: &str, b: &str, limit: usize) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut corner = i;
        let mut left = i + 1;
        let mut least = left;
        for (j, to) in b.iter().enumerate() {
            let above = row.get(j + 1).copied().unwrap_or(usize::MAX - 1);
            let best = (corner + usize::from(from != to)).min(above + 1).min(left + 1);
            corner = above;
            if let Some(cell) = row.get_mut(j) {
                *cell = left;
            }
            left = best;
            least = least.min(best);
        }
        if let Some(last) = row.last_mut() {
            *last = left;
        }
        if least > limit {
            return limit + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}
