//! Lines of at most a width, broken where Python's `textwrap` breaks them. Knows nothing of templates.

/// How lines are broken.
pub(super) struct Wrap {
    /// Characters a line may have, at least one.
    pub width: usize,
    /// Whether words that are longer than a line are broken.
    pub split_words: bool,
    /// Whether words are broken after hyphens.
    pub at_hyphens: bool,
}

impl Wrap {
    /// The lines of a paragraph.
    pub(super) fn lines(&self, text: &str) -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        let mut chunks: Vec<&[char]> = self.chunks(&chars);
        chunks.reverse();
        let mut lines: Vec<String> = Vec::new();
        while let Some(next) = chunks.last() {
            if is_blank(next) && !lines.is_empty() {
                chunks.pop();
            }
            let line = self.line(&mut chunks);
            let kept = line.split_last().filter(|(last, _)| is_blank(last)).map_or(line.as_slice(), |(_, rest)| rest);
            if !kept.is_empty() {
                lines.push(kept.iter().flat_map(|chunk| chunk.iter()).collect());
            }
        }
        lines
    }

    /// Takes the chunks of one line; the next chunk is the last of the list.
    fn line<'t>(&self, chunks: &mut Vec<&'t [char]>) -> Vec<&'t [char]> {
        let mut line: Vec<&[char]> = Vec::new();
        let mut length = 0;
        while let Some(chunk) = chunks.pop_if(|chunk| length + chunk.len() <= self.width) {
            length += chunk.len();
            line.push(chunk);
        }
        let Some(long) = chunks.pop_if(|chunk| chunk.len() > self.width) else { return line };
        if self.split_words {
            let (head, rest) = long.split_at(self.break_in(long, self.width - length));
            line.push(head);
            chunks.push(rest);
        } else if line.is_empty() {
            line.push(long);
        } else {
            chunks.push(long);
        }
        line
    }

    /// Where a word that is longer than a line is broken.
    fn break_in(&self, chunk: &[char], room: usize) -> usize {
        let head = chunk.get(..room).unwrap_or(chunk);
        let hyphen = head.iter().rposition(|c| *c == '-').filter(|_| self.at_hyphens);
        let is_worth = |at: &usize| head.iter().take(*at).any(|c| *c != '-');
        hyphen.filter(is_worth).map_or(head.len(), |at| at + 1)
    }

    /// Blanks and words, one after another.
    fn chunks<'t>(&self, chars: &'t [char]) -> Vec<&'t [char]> {
        let mut out = Vec::new();
        let mut start = 0;
        while start < chars.len() {
            let end = self.chunk_end(chars, start);
            out.extend(chars.get(start..end));
            start = end;
        }
        out
    }

    fn chunk_end(&self, chars: &[char], start: usize) -> usize {
        let is_space = |at: &usize| chars.get(*at).is_some_and(|c| is_white(*c));
        if is_space(&start) {
            return (start..chars.len()).find(|at| !is_space(at)).unwrap_or(chars.len());
        }
        if self.at_hyphens
            && let Some(end) = dash(chars, start)
        {
            return end;
        }
        for end in start + 1..chars.len() {
            if is_space(&end) || (self.at_hyphens && dash(chars, end).is_some()) {
                return end;
            }
            if self.at_hyphens && is_hyphenation(chars, end) {
                return end + 1;
            }
        }
        chars.len()
    }
}

/// The end of a dash of several hyphens that begins at a place, between words.
fn dash(chars: &[char], at: usize) -> Option<usize> {
    let before = chars.get(at.checked_sub(1)?)?;
    if !is_word(*before) && !"!\"'&.,?".contains(*before) {
        return None;
    }
    let count = chars.get(at..)?.iter().take_while(|c| **c == '-').count();
    let follows = chars.get(at + count).is_some_and(|c| is_word(*c));
    (count >= 2 && follows).then_some(at + count)
}

/// Whether a word may be broken after the hyphen at a place: letters are around it.
fn is_hyphenation(chars: &[char], at: usize) -> bool {
    let is = |at: Option<usize>, test: fn(char) -> bool| at.and_then(|at| chars.get(at)).is_some_and(|c| test(*c));
    let hyphen: fn(char) -> bool = |c| c == '-';
    let back = |by: usize| at.checked_sub(by);
    let before = is(back(1), is_letter) && (is(back(2), is_letter) || (is(back(2), hyphen) && is(back(3), is_letter)));
    let ahead = |by: usize| Some(at + by);
    let after =
        is(ahead(1), is_letter) && (is(ahead(2), is_letter) || (is(ahead(2), hyphen) && is(ahead(3), is_letter)));
    is(Some(at), hyphen) && before && after
}

fn is_white(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r')
}

fn is_blank(chunk: &[char]) -> bool {
    chunk.iter().all(|c| c.is_whitespace())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_letter(c: char) -> bool {
    is_word(c) && !c.is_numeric()
}

#[cfg(test)]
mod tests {
    use super::Wrap;

    fn wrapped(text: &str, width: usize, split_words: bool, at_hyphens: bool) -> Vec<String> {
        Wrap { width, split_words, at_hyphens }.lines(text)
    }

    #[test]
    fn words_break_after_hyphens() {
        assert_eq!(wrapped("x-1_y", 4, true, true), ["x-", "1_y"]);
        assert_eq!(wrapped("a well-known thing", 8, true, true), ["a well-", "known", "thing"]);
        assert_eq!(wrapped("a well-known thing", 8, true, false), ["a well-k", "nown", "thing"]);
        assert_eq!(wrapped("abcdefgh ij", 3, false, true), ["abcdefgh", "ij"]);
        assert_eq!(wrapped("abcdefgh ij", 3, true, true), ["abc", "def", "gh", "ij"]);
    }

    #[test]
    fn lines_keep_every_character_but_blanks_at_breaks() {
        let text = "one two--three four-five  six- -7 eight";
        for width in 1..20 {
            let lines = wrapped(text, width, true, true);
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{width}: {lines:?}");
            let solid = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            assert_eq!(solid(&lines.concat()), solid(text));
        }
    }
}
