//! Globs as `.Files.Glob` reads them: `*` stops at `/`, `**` crosses it, `?`, `[…]`, `{a,b}`.

/// A pattern.
#[derive(Debug)]
pub struct Glob {
    alternatives: Vec<Vec<Token>>,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Char(char),
    One,
    Star,
    Double,
    Class { negated: bool, ranges: Vec<(char, char)> },
}

/// More alternatives than this are not tried.
const MAX_ALTERNATIVES: usize = 1_000;

impl Glob {
    /// Reads a pattern; `None` if it is malformed.
    pub fn new(pattern: &str) -> Option<Self> {
        let chars: Vec<char> = pattern.chars().collect();
        let mut alternatives = Vec::new();
        for text in braces(&chars, 0)? {
            alternatives.push(tokens(&text)?);
        }
        Some(Self { alternatives })
    }

    /// Whether the whole path matches.
    pub fn matches(&self, path: &str) -> bool {
        let path: Vec<char> = path.chars().collect();
        self.alternatives.iter().any(|tokens| matches(tokens, &path))
    }
}

/// Expands `{a,b}` into the texts it stands for.
fn braces(chars: &[char], depth: u32) -> Option<Vec<Vec<char>>> {
    let Some(open) = position(chars, '{') else { return Some(vec![chars.to_vec()]) };
    if depth > 20 {
        return None;
    }
    let (before, rest) = chars.split_at(open);
    let mut level = 0;
    let mut parts: Vec<Vec<char>> = vec![Vec::new()];
    let mut end = None;
    for (index, ch) in rest.iter().enumerate() {
        match ch {
            '{' => {
                level += 1;
                if level == 1 {
                    continue;
                }
            }
            '}' => {
                level -= 1;
                if level == 0 {
                    end = Some(index);
                    break;
                }
            }
            ',' if level == 1 => {
                parts.push(Vec::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut()?.push(*ch);
    }
    let after = braces(rest.get(end? + 1..)?, depth + 1)?;
    let mut out = Vec::new();
    for part in parts {
        for part in braces(&part, depth + 1)? {
            for tail in &after {
                out.push([before, &part, tail].concat());
                if out.len() > MAX_ALTERNATIVES {
                    return None;
                }
            }
        }
    }
    Some(out)
}

fn position(chars: &[char], wanted: char) -> Option<usize> {
    let mut escaped = false;
    chars.iter().position(|ch| {
        let found = *ch == wanted && !escaped;
        escaped = *ch == '\\' && !escaped;
        found
    })
}

fn tokens(chars: &[char]) -> Option<Vec<Token>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(ch) = chars.get(at) {
        at += 1;
        match ch {
            '?' => out.push(Token::One),
            '*' if chars.get(at) == Some(&'*') => {
                at += 1;
                out.push(Token::Double);
            }
            '*' => out.push(Token::Star),
            '\\' => {
                out.push(Token::Char(*chars.get(at)?));
                at += 1;
            }
            '[' => {
                let close = at + chars.get(at..)?.iter().position(|ch| *ch == ']')?;
                out.push(class(chars.get(at..close)?));
                at = close + 1;
            }
            _ => out.push(Token::Char(*ch)),
        }
    }
    Some(out)
}

fn class(body: &[char]) -> Token {
    let negated = body.first() == Some(&'!');
    let body = body.get(usize::from(negated)..).unwrap_or_default();
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(low) = body.get(at) {
        if let (Some('-'), Some(high)) = (body.get(at + 1), body.get(at + 2)) {
            ranges.push((*low, *high));
            at += 3;
        } else {
            ranges.push((*low, *low));
            at += 1;
        }
    }
    Token::Class { negated, ranges }
}

/// Matches by remembering the last star of each kind, so that it takes at most the product of both lengths.
fn matches(tokens: &[Token], path: &[char]) -> bool {
    let mut reachable = vec![false; path.len() + 1];
    if let Some(first) = reachable.first_mut() {
        *first = true;
    }
    for token in tokens {
        let mut next = vec![false; path.len() + 1];
        let mut open = false;
        for at in 0..=path.len() {
            let here = reachable.get(at).copied().unwrap_or(false);
            match token {
                Token::Star | Token::Double => {
                    open |= here;
                    if let Some(place) = next.get_mut(at) {
                        *place |= open;
                    }
                    if *token == Token::Star && path.get(at) == Some(&'/') {
                        open = false;
                    }
                }
                _ => {
                    let Some(ch) = path.get(at) else { continue };
                    if here
                        && one(token, *ch)
                        && let Some(place) = next.get_mut(at + 1)
                    {
                        *place = true;
                    }
                }
            }
        }
        reachable = next;
    }
    reachable.last().copied().unwrap_or(false)
}

fn one(token: &Token, ch: char) -> bool {
    match token {
        Token::Char(wanted) => *wanted == ch,
        Token::One => ch != '/',
        Token::Class { negated, ranges } => {
            let found = ranges.iter().any(|(low, high)| (*low..=*high).contains(&ch));
            found != *negated
        }
        _ => false,
    }
}
