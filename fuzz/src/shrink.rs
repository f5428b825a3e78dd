//! Makes an input smaller while it still fails.

use std::time::{Duration, Instant};

/// Enough time to remove most of the irrelevant parts.
const LONGEST: Duration = Duration::from_secs(20);

/// Removes ever smaller parts, as long as `fails` stays true.
pub fn shrink(input: &[u8], fails: &mut dyn FnMut(&[u8]) -> bool) -> Vec<u8> {
    let start = Instant::now();
    let mut best = input.to_vec();
    let mut size = best.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < best.len() {
            if start.elapsed() > LONGEST {
                return best;
            }
            let mut smaller = best.clone();
            smaller.drain(at..(at + size).min(best.len()));
            if fails(&smaller) {
                best = smaller;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_matters_is_left() {
        let mut fails = |input: &[u8]| input.windows(2).any(|pair| pair == b"!?");
        assert_eq!(shrink(b"a long text with !? in it, and more", &mut fails), b"!?");
    }
}
