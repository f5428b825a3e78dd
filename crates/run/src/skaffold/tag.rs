//! Tags of images by Skaffold's tag policies. Runs git if the policy requires it.

use purlin_host::named;
use purlin_skaffold::item::View;
use purlin_skaffold::remote::Checkout;
use purlin_skaffold::template;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Default layout of times.
const LAYOUT: &str = "2006-01-02_15-04-05.999_MST";

/// Length of an abbreviated commit.
const SHORT_COMMIT: usize = 7;

/// Maximum length of a tag in registries.
const LONGEST: usize = 128;

/// Inputs of a tag.
pub struct Tagger<'t> {
    /// Environment variables.
    pub env: &'t BTreeMap<String, String>,
    /// The name of the image.
    pub image: &'t str,
    /// The folder with its sources.
    pub folder: PathBuf,
    /// The digest of its files, for the policy of that name.
    pub input_digest: &'t dyn Fn() -> Result<String, String>,
    /// The time of the run, in nanoseconds since 1970.
    pub now: i128,
    /// The fetched repository that the configuration is in.
    pub checkout: Option<Checkout>,
}

impl Tagger<'_> {
    /// The tag by a policy; empty if the image's name already has one.
    pub fn tag(&self, policy: Option<View<'_, '_>>) -> Result<String, String> {
        let custom = policy.and_then(|policy| policy.get("customTemplate"));
        let tag = match (custom, policy) {
            (Some(template), _) => self.custom(template),
            (None, Some(policy)) => self.component(policy),
            (None, None) => self.git("", "", false),
        }?;
        match is_tag(&tag) {
            true => Ok(tag),
            false => Err(format!("`{tag}` is not a valid tag")),
        }
    }

    fn component(&self, policy: View<'_, '_>) -> Result<String, String> {
        if policy.get("sha256").is_some() {
            return Ok(self.checksum());
        }
        if let Some(section) = policy.get("envTemplate") {
            let mut names = self.env.clone();
            names.insert("IMAGE_NAME".to_owned(), self.image.to_owned());
            let tag = template::expand(&section.text_of("template"), &names)?;
            let is_missing = tag.contains(template::MISSING);
            return if is_missing {
                Err("an environment variable of its template is not set".to_owned())
            } else {
                Ok(tag)
            };
        }
        if let Some(section) = policy.get("dateTime") {
            return self.time(&section.text_of("format"), &section.text_of("timezone"));
        }
        if policy.get("inputDigest").is_some() {
            return (self.input_digest)();
        }
        let section = policy.get("gitCommit");
        let text = |key: &str| section.map(|section| section.text_of(key).into_owned()).unwrap_or_default();
        let ignore = section.and_then(|section| section.get("ignoreChanges")?.bool()).unwrap_or(false);
        self.git(&text("prefix"), &text("variant"), ignore)
    }

    /// Images are identified by their digest, so the tag is constant.
    fn checksum(&self) -> String {
        let has_tag = purlin_value::image::parts(self.image).name != self.image;
        if has_tag { String::new() } else { "latest".to_owned() }
    }

    fn custom(&self, section: View<'_, '_>) -> Result<String, String> {
        let text = section.text_of("template");
        let mut names = BTreeMap::new();
        let components: Vec<View<'_, '_>> = section.get("components").into_iter().flat_map(View::items).collect();
        for name in fields(&text) {
            let own = components.iter().find(|component| component.text_of("name") == name.as_str());
            let value = match (own, name.as_str()) {
                (Some(component), _) => self.component(*component)?,
                (None, "GIT") => self.git("", "", false)?,
                (None, "DATE") => self.time("", "")?,
                (None, "SHA") => self.checksum(),
                (None, "INPUT_DIGEST") => (self.input_digest)()?,
                (None, other) => return Err(format!("unknown component `{other}`")),
            };
            names.insert(name, value);
        }
        template::expand(&text, &names)
    }

    fn time(&self, layout: &str, zone: &str) -> Result<String, String> {
        let layout = if layout.is_empty() { LAYOUT } else { layout };
        let zone = match zone {
            "" | "Local" => self.env.get("TZ").map_or("UTC", String::as_str),
            other => other,
        };
        template::time(self.now, layout, zone).ok_or_else(|| format!("unknown time zone `{zone}`"))
    }

    fn git(&self, prefix: &str, variant: &str, ignore_changes: bool) -> Result<String, String> {
        if let Some(checkout) = &self.checkout {
            // Nothing is changed in a copy.
            return Ok(format!("{prefix}{}", clean(&fetched(checkout, variant)?)));
        }
        let tree = || -> Result<String, String> {
            let top = self.ask_git(&["rev-parse", "--show-toplevel"])?;
            let folder = named::canonical(&self.folder).map_err(|error| error.to_string())?;
            let within =
                folder.strip_prefix(Path::new(&top)).map_err(|_| "it is outside of its repository".to_owned())?;
            let within = within.to_string_lossy();
            Ok(format!("HEAD:{}/", if within.is_empty() { "." } else { &within }))
        };
        let reference = match variant.to_lowercase().as_str() {
            "" | "tags" => self.ask_git(&["describe", "--tags", "--always"])?,
            "commitsha" => self.ask_git(&["rev-list", "-1", "HEAD"])?,
            "abbrevcommitsha" => self.ask_git(&["rev-list", "-1", "HEAD", "--abbrev-commit"])?,
            "treesha" => self.ask_git(&["rev-parse", &tree()?])?,
            "abbrevtreesha" => self.ask_git(&["rev-parse", "--short", &tree()?])?,
            "branches" => self
                .ask_git(&["branch", "--show-current"])
                .or_else(|_| self.ask_git(&["rev-list", "-1", "HEAD", "--abbrev-commit"]))?,
            other => return Err(format!("`{other}` is not a variant of `gitCommit`")),
        };
        let reference = clean(&reference);
        let changed = !ignore_changes && !self.ask_git(&["status", ".", "--porcelain"])?.is_empty();
        Ok(format!("{prefix}{reference}{}", if changed { "-dirty" } else { "" }))
    }

    fn ask_git(&self, args: &[&str]) -> Result<String, String> {
        let mut command = purlin_host::process::command("git");
        command.args(args).current_dir(&self.folder).env_clear().envs(self.env).stdin(Stdio::null());
        let output = command.output().map_err(|error| format!("could not run git: {error}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("git: {}", said.lines().last().unwrap_or("it failed").trim()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

/// The reference to the commit of a fetched repository, where there is no git to ask.
fn fetched(checkout: &Checkout, variant: &str) -> Result<String, String> {
    let Checkout { commit, revision, .. } = checkout;
    let short = || commit.get(..SHORT_COMMIT).unwrap_or(commit).to_owned();
    match variant.to_lowercase().as_str() {
        "" | "tags" => Ok(revision.strip_prefix("refs/tags/").map_or_else(short, str::to_owned)),
        "commitsha" => Ok(commit.clone()),
        "abbrevcommitsha" => Ok(short()),
        "branches" if !revision.is_empty() && !commit.starts_with(revision.as_str()) => {
            Ok(revision.trim_start_matches("refs/heads/").to_owned())
        }
        "branches" => Ok(short()),
        other => Err(format!("the variant `{other}` of `gitCommit` is not known for a repository that was fetched")),
    }
}

/// Whether a tag is valid in registries; an empty one means that of the image's own name.
fn is_tag(tag: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    tag.len() <= LONGEST && tag.chars().enumerate().all(|(at, c)| is_word(c) || (at > 0 && "-.".contains(c)))
}

/// A name as a tag: other characters become `_`, and so do leading dots and dashes.
fn clean(name: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "-._".contains(c) { c } else { '_' };
    let mut tag: String = name.chars().map(allowed).collect();
    let front = tag.len() - tag.trim_start_matches(['-', '.']).len();
    tag.replace_range(..front, &"_".repeat(front));
    tag.truncate(LONGEST);
    tag
}

/// The field names in a template.
fn fields(template: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for action in template.split("{{").skip(1).filter_map(|rest| rest.split("}}").next()) {
        for part in action.split(|c: char| c.is_whitespace() || "()|".contains(c)) {
            let name = part.strip_prefix('.').unwrap_or_default();
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
            if is_name && !found.iter().any(|other| other == name) {
                found.push(name.to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_tags() {
        assert_eq!(clean("v1.0/beta+1"), "v1.0_beta_1");
        assert_eq!(clean("-.x"), "__x");
        assert_eq!(clean(&"a".repeat(200)).len(), LONGEST);
    }

    #[test]
    fn tags_that_registries_take() {
        assert!(["", "v1.0", "_x", "a-b.c"].into_iter().all(is_tag));
        assert!(["-x", ".x", "a/b", "a b"].into_iter().all(|tag| !is_tag(tag)));
    }

    #[test]
    fn fields_of_a_template() {
        assert_eq!(fields("{{.GIT}}_{{ .D | printf \"%s\" }}-{{.GIT}}"), ["GIT", "D"]);
    }
}
