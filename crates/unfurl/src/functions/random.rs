//! Random strings and salts, drawn from the run's seed so that a run can be repeated.

use super::Call;
use crate::error::{Result, type_error};
use crate::eval::Ctx;
use crate::val::{Data, Val};
use sha2::{Digest, Sha256};

/// Longest random string.
const LONGEST: usize = 10_000;
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const PASSWORD: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&()*+,-./:;<=>?@[]^_{|}~";

/// The next random number: by seed, place and how many were drawn before.
pub fn draw(ctx: &Ctx<'_, '_>) -> u64 {
    let engine = ctx.engine;
    let drawn = engine.drawn.get();
    engine.drawn.set(drawn + 1);
    let mut hash = Sha256::new();
    hash.update(engine.session.world.seed().bytes());
    hash.update(engine.tree.node(ctx.instance()).name.as_bytes());
    if let Some((_, attribute)) = engine.stack.borrow().last() {
        hash.update(attribute.as_bytes());
    }
    hash.update(drawn.to_le_bytes());
    let digest = hash.finalize();
    digest.iter().take(8).fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

/// A salt for encrypting something: the same text is encrypted the same way in a repeated run.
pub fn salt(ctx: &Ctx<'_, '_>, plain: &[u8]) -> [u8; 32] {
    crate::vault::salt(draw(ctx), plain)
}

/// `generate_string`
pub fn generate(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let options = call.value(ctx)?;
    let option = |name: &str| options.get(name).or_else(|| call.raw(name)).cloned();
    let length = match option("len").map(|value| value.data) {
        None | Some(Data::Null) => 12,
        Some(Data::Int(n)) => usize::try_from(n).unwrap_or(0).min(LONGEST),
        Some(_) => return type_error("`len` must be an integer"),
    };
    let preset = option("preset").and_then(|value| value.as_str().map(str::to_owned));
    let alphabet: Vec<char> = match (preset.as_deref(), option("ranges")) {
        (_, Some(ranges)) if ranges.as_list().is_some() => ranges_of(&ranges)?,
        (Some("number"), _) => ('0'..='9').collect(),
        (Some("password"), _) => PASSWORD.iter().map(|byte| char::from(*byte)).collect(),
        _ => LETTERS.iter().map(|byte| char::from(*byte)).collect(),
    };
    let Some(count) = u64::try_from(alphabet.len()).ok().filter(|count| *count > 0) else {
        return type_error("`ranges` allow no character");
    };
    let pick = |_| usize::try_from(draw(ctx) % count).ok().and_then(|at| alphabet.get(at)).copied();
    let text: String = (0..length).filter_map(pick).collect();
    Ok(Val::str(text).taint_if(preset.as_deref() == Some("password")))
}

/// The characters of `[[first, last], …]`.
fn ranges_of(ranges: &Val) -> Result<Vec<char>> {
    let mut out = Vec::new();
    for range in ranges.as_list().unwrap_or(&[]) {
        let ends: Vec<char> =
            range.as_list().unwrap_or(&[]).iter().filter_map(|end| end.as_str()?.chars().next()).collect();
        match ends.as_slice() {
            [only] => out.push(*only),
            [first, last] if last >= first && (*last as u32 - *first as u32) < 0x1_0000 => out.extend(*first..=*last),
            _ => return type_error("each of `ranges` is a list of two characters"),
        }
    }
    Ok(out)
}
