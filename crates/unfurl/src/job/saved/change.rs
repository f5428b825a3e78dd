//! Change ids, times and digests as a job writes them down.

use crate::convert::{self, JsonStyle};
use crate::eval::show::REDACTED;
use crate::tree::Tree;
use crate::val::{Data, Val};
use ecow::{EcoString, eco_format};
use purlin_syntax::calendar::Date;
use purlin_value::world::Moment;
use sha1::{Digest, Sha1};

/// The digits of numbers up to 61.
const DIGITS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The first year that ids can name.
const FIRST_YEAR: i64 = 2020;

/// The duration of one step of an id's last digit.
const STEP: i128 = 16_200_000;

const NANOS_PER_SECOND: i128 = 1_000_000_000;
const SECONDS_PER_DAY: i128 = 86_400;

/// A moment in parts.
struct Parts {
    date: Date,
    hour: i128,
    minute: i128,
    second: i128,
    nanos: i128,
}

fn parts(moment: Moment) -> Parts {
    let seconds = moment.0.div_euclid(NANOS_PER_SECOND);
    let days = i64::try_from(seconds.div_euclid(SECONDS_PER_DAY)).unwrap_or(0);
    let of_day = seconds.rem_euclid(SECONDS_PER_DAY);
    Parts {
        date: Date::from_days(days),
        hour: of_day / 3600,
        minute: of_day / 60 % 60,
        second: of_day % 60,
        nanos: moment.0.rem_euclid(NANOS_PER_SECOND),
    }
}

/// The id of a job: its time, and four digits for its tasks. Always later than that of the job before it, even if both
/// began within one step or the clock was set back.
pub(crate) fn job_id(moment: Moment, previous: Option<&str>) -> EcoString {
    let id = id_at(moment);
    match previous.filter(|previous| previous.len() == id.len() && previous.is_ascii()) {
        Some(previous) if previous.get(..8) >= id.get(..8) => next_id(previous),
        _ => id,
    }
}

/// The id one step after another.
fn next_id(previous: &str) -> EcoString {
    let mut bytes: Vec<u8> = previous.bytes().take(8).collect();
    for byte in bytes.iter_mut().skip(1).rev() {
        let next = DIGITS.iter().position(|known| known == byte).map_or(0, |at| at + 1);
        *byte = *DIGITS.get(next).unwrap_or(&b'0');
        if next < DIGITS.len() {
            break;
        }
    }
    eco_format!("{}0000", String::from_utf8_lossy(&bytes))
}

fn id_at(moment: Moment) -> EcoString {
    let Parts { date, hour, minute, second, nanos } = parts(moment);
    let numbers = [
        i128::from(date.year - FIRST_YEAR),
        i128::from(date.month),
        i128::from(date.day),
        hour,
        minute,
        second,
        nanos / STEP,
    ];
    let digit = |number: &i128| char::from(*DIGITS.get(usize::try_from(*number).unwrap_or(0).min(61)).unwrap_or(&b'0'));
    let text: String = numbers.iter().map(digit).collect();
    eco_format!("A{text}0000")
}

/// The id of a task of a job.
pub(crate) fn task_id(job: &str, number: u32) -> EcoString {
    eco_format!("{}{number:04x}", job.get(..8).unwrap_or(job))
}

/// Whether a value is a change id.
pub(crate) fn is_change_id(value: &Val) -> bool {
    let text = value.as_str().unwrap_or_default();
    text.len() == 12 && text.starts_with('A') && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// A time to the microsecond, as records have it.
pub fn time(moment: Moment) -> String {
    let Parts { date, hour, minute, second, nanos } = parts(moment);
    format!("{:04}-{:02}-{:02}-{hour:02}-{minute:02}-{second:02}-{:06}", date.year, date.month, date.day, nanos / 1000)
}

/// The name of a job's files, without an ending.
pub fn file_stem(moment: Moment, job: &str) -> String {
    let time = time(moment);
    format!("job{}-{}", time.get(..19).unwrap_or(&time), job.get(..8).unwrap_or(job))
}

/// A digest of values. All secrets count as equal.
pub fn digest<'v>(values: impl IntoIterator<Item = &'v Val>, tree: &Tree) -> String {
    let mut hash = Sha1::new();
    values.into_iter().for_each(|value| feed(value, tree, &mut hash, 0));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn feed(value: &Val, tree: &Tree, hash: &mut Sha1, depth: usize) {
    if value.is_tainted() {
        return hash.update(REDACTED);
    }
    match &value.data {
        _ if depth > crate::limits::MAX_DEPTH => {}
        Data::Null => {}
        Data::Str(text) => hash.update(text.as_str()),
        Data::External(external) => feed(&external.value, tree, hash, depth + 1),
        Data::List(items) => items.iter().for_each(|item| feed(item, tree, hash, depth + 1)),
        Data::Map(entries) => {
            let mut entries: Vec<(EcoString, &Val)> =
                entries.iter().map(|(key, value)| (convert::key_text(key), value)).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            for (key, item) in entries {
                hash.update(key.as_str());
                feed(item, tree, hash, depth + 1);
            }
        }
        _ => {
            let style = JsonStyle { indent: Some(2), sorted: true, ascii: true };
            hash.update(convert::to_json(value, tree, style).unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_id_tells_the_time_and_comes_after_the_one_before() {
        let moment = Moment(1_794_823_515_338_660_000);
        assert_eq!(time(moment), "2026-11-16-10-05-15-338660");
        let id = job_id(moment, None);
        assert_eq!(id, "A6BGA5FK0000");
        assert_eq!(task_id(&id, 26), "A6BGA5FK001a");
        let next = job_id(moment, Some(&id));
        assert!(next > id, "{next}");
        let back = job_id(Moment(moment.0 - 3 * NANOS_PER_SECOND), Some(&id));
        assert!(back > id, "{back}");
        assert_eq!(file_stem(moment, &id), "job2026-11-16-10-05-15-A6BGA5FK");
    }
}
