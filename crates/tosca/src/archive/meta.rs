//! `TOSCA.meta`: `Name: value` lines in blocks.

/// The contents of the metadata.
#[derive(Debug, Default)]
pub(super) struct Meta {
    /// The template to start with.
    pub entry: Option<String>,
    /// Further templates.
    pub others: Vec<String>,
    /// All pairs, as written.
    pub pairs: Vec<(String, String)>,
}

/// Reads the metadata; the message begins with a verb.
pub(super) fn parse(text: &str) -> Result<Meta, String> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        if let Some(more) = line.strip_prefix(' ') {
            let last = pairs.last_mut().ok_or_else(|| format!("begins with a continuation in line {}", number + 1))?;
            last.1.push_str(more.trim_end());
            continue;
        }
        let (name, value) = line.split_once(':').ok_or_else(|| format!("has no `:` in line {}", number + 1))?;
        if !value.is_empty() && !value.starts_with(' ') {
            return Err(format!("needs a space after the `:` in line {}", number + 1));
        }
        pairs.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    let get = |wanted: &str| pairs.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    require(
        get("TOSCA-Meta-File-Version").or(get("TOSCA-Meta-Version")),
        "TOSCA-Meta-File-Version",
        &["1.0", "1.1", "2.0"],
    )?;
    require(get("CSAR-Version"), "CSAR-Version", &["1.0", "1.1", "2.0"])?;
    require(get("Created-By"), "Created-By", &[])?;
    let entry = get("Entry-Definitions").map(str::to_owned);
    let others = words(get("Other-Definitions").unwrap_or(""))?;
    Ok(Meta { entry, others, pairs })
}

fn require(value: Option<&str>, name: &str, known: &[&str]) -> Result<(), String> {
    match value {
        None => Err(format!("does not have `{name}`")),
        Some(value) if known.is_empty() || known.contains(&value) => Ok(()),
        Some(value) => Err(format!("has `{name}: {value}`, which is not known")),
    }
}

/// Names separated by single spaces; quotes and backslashes keep spaces in a name.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    let mut chars = text.chars();
    let mut pending = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => word.extend(chars.next()),
            '"' => quoted = !quoted,
            ' ' if !quoted => {
                if word.is_empty() {
                    return Err("has two spaces in a row in `Other-Definitions`".to_owned());
                }
                out.push(std::mem::take(&mut word));
                pending = false;
                continue;
            }
            other => word.push(other),
        }
        pending = true;
    }
    if pending {
        out.push(word);
    }
    Ok(out)
}
