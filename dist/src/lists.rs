//! Lists of a release's packages: checksums, the bill of materials, and the formulas of package managers.

use crate::packed::Result;
use crate::target::TARGETS;
use serde_json::{Value, json};
use std::fmt::Write;

/// One line per package, as `sha256sum --check` reads it.
pub fn checksums(packages: &[(String, String)]) -> String {
    packages.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect()
}

/// The schema of a format with the address it is published under.
pub fn published(schema: &str, format: &str, version: &str, address: &str) -> String {
    let own = format!("\"$id\": \"urn:purlin:formats:{format}\"");
    let public = format!("\"$id\": \"{address}/releases/download/v{version}/{format}.schema.json\"");
    schema.replacen(&own, &public, 1)
}

/// A CycloneDX bill of materials from the lock file: all compiled-in dependencies, with the verified checksums.
pub fn bill_of_materials(lock: &str, version: &str) -> Result<String> {
    let components: Vec<Value> = lock.split("[[package]]").skip(1).filter_map(component).collect();
    let whole = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application", "bom-ref": "purlin", "name": "purlin", "version": version,
                "licenses": [{ "expression": "MIT OR Apache-2.0" }],
            },
        },
        "components": components,
    });
    Ok(format!("{whole:#}\n"))
}

/// A package that comes from a registry.
fn component(package: &str) -> Option<Value> {
    // Cargo writes one key per line, each with a quoted value.
    let text = |key: &str| {
        let lines = package.lines().filter_map(|line| line.split_once(" = "));
        let mut values = lines.filter(|(name, _)| *name == key).map(|(_, value)| value.trim_matches('"'));
        values.next()
    };
    let (name, version, sum) = (text("name")?, text("version")?, text("checksum")?);
    let address = format!("pkg:cargo/{name}@{version}");
    Some(json!({
        "type": "library", "bom-ref": address, "name": name, "version": version, "purl": address,
        "hashes": [{ "alg": "SHA-256", "content": sum }],
    }))
}

/// A formula with its version and checksums filled in. A missing checksum is an error: the formula would not install.
pub fn filled(template: &str, version: &str, address: &str, packages: &[(String, String)]) -> Result<String> {
    let mut text = template.replace("VERSION", version).replace("REPOSITORY", address);
    for target in TARGETS {
        let mark = format!("SHA256_{}", target.triple.to_uppercase().replace('-', "_"));
        if !text.contains(&mark) {
            continue;
        }
        let archive = packages.iter().find(|(name, _)| name.starts_with("purlin-") && name.contains(target.triple));
        let (_, sum) = archive.ok_or_else(|| format!("there is no archive for {}", target.triple))?;
        text = text.replace(&mark, sum);
    }
    let mut first = String::new();
    let rest = match text.split_once('\n') {
        Some((line, rest)) if line.starts_with("# Template") => rest,
        _ => &text,
    };
    write!(first, "{rest}")?;
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::published;

    #[test]
    fn a_published_schema_has_the_address_it_is_published_under() {
        let own = r#"{ "$id": "urn:purlin:formats:garden" }"#;
        let public = published(own, "garden", "1.2.3", "https://example.com/purlin");
        assert_eq!(public, r#"{ "$id": "https://example.com/purlin/releases/download/v1.2.3/garden.schema.json" }"#);
        assert_eq!(published("{}", "garden", "1.2.3", ""), "{}");
    }
}
