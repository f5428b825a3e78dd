//! Splitting text into words, for `camelCase` and `kebabCase`.
//!
//! Words end where the case changes, digits are words of their own, accents are dropped and punctuation separates.

/// Effect of a character on word boundaries.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    Lower,
    Digit,
    Break,
}

fn classify(c: char) -> Class {
    if c.is_ascii_digit() {
        Class::Digit
    } else if c.is_uppercase() {
        Class::Upper
    } else if c.is_alphanumeric() {
        Class::Lower
    } else {
        Class::Break
    }
}

/// `fooBar` for `Foo bar`.
pub fn camel_case(text: &str) -> String {
    let mut result = String::new();
    for (index, word) in words(text).iter().enumerate() {
        let lower = word.to_lowercase();
        let mut chars = lower.chars();
        match chars.next() {
            Some(first) if index > 0 => {
                result.extend(first.to_uppercase());
                result.push_str(chars.as_str());
            }
            _ => result.push_str(&lower),
        }
    }
    result
}

/// `foo-bar` for `Foo bar`.
pub fn kebab_case(text: &str) -> String {
    words(text).iter().map(|word| word.to_lowercase()).collect::<Vec<_>>().join("-")
}

fn words(text: &str) -> Vec<String> {
    let plain: Vec<char> = deburr(text).chars().filter(|c| !matches!(c, '\'' | '\u{2019}')).collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (index, &c) in plain.iter().enumerate() {
        let class = classify(c);
        let before = index.checked_sub(1).and_then(|i| plain.get(i)).map_or(Class::Break, |&c| classify(c));
        let after = plain.get(index + 1).map_or(Class::Break, |&c| classify(c));
        let starts = class == Class::Break
            || match (before, class) {
                (Class::Lower, Class::Upper) => true,
                // The last capital of an acronym begins the next word.
                (Class::Upper, Class::Upper) => after == Class::Lower,
                (Class::Digit, Class::Lower | Class::Upper) => !ordinal_at(&plain, index),
                (a, b) => (a == Class::Digit) != (b == Class::Digit),
            };
        if starts && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if class != Class::Break {
            word.push(c);
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Whether the letters at `index` make an ordinal of the number before them: `1st`, `22nd`, `4th`.
fn ordinal_at(text: &[char], index: usize) -> bool {
    let (Some(&digit), Some(&a), Some(&b)) =
        (index.checked_sub(1).and_then(|i| text.get(i)), text.get(index), text.get(index + 1))
    else {
        return false;
    };
    let ends = text
        .get(index + 2)
        .is_none_or(|&c| classify(c) == Class::Break || (c.is_ascii_uppercase() && a.is_ascii_lowercase()));
    let suffix = match digit {
        '1' => ['s', 't'],
        '2' => ['n', 'd'],
        '3' => ['r', 'd'],
        _ => ['t', 'h'],
    };
    let upper = suffix.map(|c| c.to_ascii_uppercase());
    ends && ([a, b] == suffix || [a, b] == upper)
}

/// Latin letters without their accents.
fn deburr(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match plain_letter(c) {
            Some(plain) => result.push_str(plain),
            None if ('\u{300}'..='\u{36F}').contains(&c) => {}
            None => result.push(c),
        }
    }
    result
}

/// Runs of letters that share a plain form, in the two Latin blocks after ASCII.
const PLAIN: &[(&str, &str)] = &[
    ("ÀÁÂÃÄÅĀĂĄ", "A"),
    ("àáâãäåāăą", "a"),
    ("ÇĆĈĊČ", "C"),
    ("çćĉċč", "c"),
    ("ÐĎĐ", "D"),
    ("ðďđ", "d"),
    ("ÈÉÊËĒĔĖĘĚ", "E"),
    ("èéêëēĕėęě", "e"),
    ("ĜĞĠĢ", "G"),
    ("ĝğġģ", "g"),
    ("ĤĦ", "H"),
    ("ĥħ", "h"),
    ("ÌÍÎÏĨĪĬĮİ", "I"),
    ("ìíîïĩīĭįı", "i"),
    ("Ĵ", "J"),
    ("ĵ", "j"),
    ("Ķ", "K"),
    ("ķĸ", "k"),
    ("ĹĻĽĿŁ", "L"),
    ("ĺļľŀł", "l"),
    ("ÑŃŅŇŊ", "N"),
    ("ñńņňŋ", "n"),
    ("ÒÓÔÕÖØŌŎŐ", "O"),
    ("òóôõöøōŏő", "o"),
    ("ŔŖŘ", "R"),
    ("ŕŗř", "r"),
    ("ŚŜŞŠ", "S"),
    ("śŝşšſ", "s"),
    ("ŢŤŦ", "T"),
    ("ţťŧ", "t"),
    ("ÙÚÛÜŨŪŬŮŰŲ", "U"),
    ("ùúûüũūŭůűų", "u"),
    ("Ŵ", "W"),
    ("ŵ", "w"),
    ("ÝŶŸ", "Y"),
    ("ýÿŷ", "y"),
    ("ŹŻŽ", "Z"),
    ("źżž", "z"),
    ("Æ", "Ae"),
    ("æ", "ae"),
    ("Þ", "Th"),
    ("þ", "th"),
    ("ß", "ss"),
    ("Ĳ", "IJ"),
    ("ĳ", "ij"),
    ("Œ", "Oe"),
    ("œ", "oe"),
    ("ŉ", "'n"),
];

fn plain_letter(c: char) -> Option<&'static str> {
    if !('\u{C0}'..='\u{17F}').contains(&c) {
        return None;
    }
    PLAIN.iter().find(|(letters, _)| letters.contains(c)).map(|&(_, plain)| plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_follow_case_and_digits() {
        for (text, camel, kebab) in [
            ("XMLHttpRequest", "xmlHttpRequest", "xml-http-request"),
            ("foo2bar", "foo2Bar", "foo-2-bar"),
            ("__FOO_BAR__", "fooBar", "foo-bar"),
            ("ünï cödé", "uniCode", "uni-code"),
            ("1st place", "1stPlace", "1st-place"),
            ("don't stop", "dontStop", "dont-stop"),
        ] {
            assert_eq!(camel_case(text), camel);
            assert_eq!(kebab_case(text), kebab);
        }
    }
}
