//! YAML nodes to values: phase `read`. Vault data under a `!vault` tag is opened here, and is a secret from then on.

use crate::convert;
use crate::limits::MAX_DEPTH;
use crate::val::{Data, MapKey, Val, ValMap};
use crate::vault::{self, Secret};
use crate::yaml_text::{self, YamlStyle};
use ecow::EcoString;
use purlin_syntax::{Kind, MergeKeys, Node, Scalar, Span};
use purlin_value::{Origin, Taint};
use std::rc::Rc;

/// The tags of vault data.
pub(crate) const VAULT_TAGS: &[&str] = &["!vault", "!vault-json", "!vault-binary", "!encrypted_string"];

/// Reads nodes; records vault data that could not be opened.
pub struct Reader<'s> {
    /// Passwords; if none, vault data stays encrypted.
    pub secrets: Option<&'s [Secret]>,
    /// Vault data that could not be opened, and why.
    pub problems: Vec<(Span, vault::Problem)>,
    /// Collections with an anchor, which merge directives may name.
    pub anchors: Vec<(EcoString, Val)>,
}

impl<'s> Reader<'s> {
    /// A reader with passwords; without them vault data stays encrypted.
    pub fn new(secrets: Option<&'s [Secret]>) -> Self {
        Reader { secrets, problems: Vec::new(), anchors: Vec::new() }
    }
}

impl Reader<'_> {
    /// The value of a node, as written.
    pub fn read(&mut self, node: Node<'_>) -> Val {
        self.read_at(node, 0)
    }

    fn read_at(&mut self, node: Node<'_>, depth: usize) -> Val {
        if depth > 4 * MAX_DEPTH {
            return Val::null();
        }
        let data = match node.kind() {
            Kind::Scalar => return self.scalar(node),
            Kind::List => Data::List(Rc::new(node.items().map(|item| self.read_at(item, depth + 1)).collect())),
            Kind::Map => Data::Map(Rc::new(self.map(node, depth))),
            Kind::Alias => return self.read_at(node.target(), depth + 1),
            Kind::Error => Data::Null,
        };
        let value = Val::of(data, Origin::node(node.target()), Taint::secret_if(node.tag() == Some("!sensitive")));
        if let Some(anchor) = node.anchor() {
            self.anchors.push((anchor.into(), value.clone()));
        }
        value
    }

    fn map(&mut self, node: Node<'_>, depth: usize) -> ValMap {
        let mut entries = ValMap::default();
        let merges_secret = merges_secret(node, depth);
        for entry in node.merged_entries(MergeKeys::Apply) {
            let is_secret = merges_secret && !node.encloses(entry.key);
            let value = self.read_at(entry.value, depth + 1).taint_if(is_secret);
            entries.insert(MapKey::Str(purlin_value::read::key_text(entry.key)), value);
        }
        entries
    }

    fn scalar(&mut self, node: Node<'_>) -> Val {
        let origin = Origin::node(node.target());
        match (node.tag(), self.secrets) {
            (Some(tag), Some(secrets)) if VAULT_TAGS.contains(&tag) => match vault::decrypt(node.text(), secrets) {
                Ok(plain) => opened(tag, &plain).taint().from_origin(origin),
                Err(problem) => {
                    self.problems.push((node.span(), problem));
                    Val::null().from_origin(origin)
                }
            },
            (tag, _) => {
                let data = match node.scalar() {
                    Scalar::Null => Data::Null,
                    Scalar::Bool(b) => Data::Bool(b),
                    Scalar::Int(n) => Data::Int(n),
                    Scalar::Float(x) => Data::Float(x),
                    Scalar::BigInt => Data::Float(node.text().parse().unwrap_or(f64::INFINITY)),
                    Scalar::Str | Scalar::Timestamp => Data::Str(node.eco_text()),
                };
                Val::of(data, origin, Taint::secret_if(tag == Some("!sensitive")))
            }
        }
    }
}

/// Whether a mapping merges one that is secret as a whole, so that the merged entries are.
fn merges_secret(node: Node<'_>, depth: usize) -> bool {
    let is_secret = |base: Node<'_>| base.tag() == Some("!sensitive") || merges_secret(base, depth + 1);
    let mut bases = node.entries().filter(|entry| entry.key.is_merge_key()).map(|entry| entry.value.target());
    depth <= 4 * MAX_DEPTH && bases.any(|base| is_secret(base) || base.items().any(|item| is_secret(item.target())))
}

/// The content of vault data, by its tag.
pub fn opened(tag: &str, plain: &[u8]) -> Val {
    match tag {
        "!vault-binary" => Data::Bytes(plain.into()).into(),
        "!vault-json" => {
            std::str::from_utf8(plain).ok().and_then(|text| convert::from_json(text).ok()).unwrap_or_else(Val::null)
        }
        _ => Val::bytes(plain),
    }
}

/// A value as YAML with its secrets encrypted by the first password, or redacted without one. A vault with the only id
/// `cleartext` writes them in plain text.
pub fn write(
    value: &Val,
    tree: &crate::tree::Tree,
    secrets: &[Secret],
    salt: [u8; 32],
) -> crate::error::Result<String> {
    let style = YamlStyle { indent: 2, flow_leaves: false, sorted: false };
    let clear = matches!(secrets, [only] if only.id == "cleartext");
    if clear {
        return yaml_text::to_yaml(value, tree, style);
    }
    let mut out = String::new();
    for (key, item) in value.as_map().into_iter().flatten() {
        out.push_str(&convert::key_text(key));
        if !item.is_tainted() {
            let text = yaml_text::to_yaml(&Val::map([(key.clone(), item.clone())].into_iter().collect()), tree, style)?;
            out.truncate(out.len() - convert::key_text(key).len());
            out.push_str(&text);
            continue;
        }
        let Some(secret) = secrets.first() else {
            out.push_str(": <<REDACTED>>\n");
            continue;
        };
        let (tag, plain) = closed(item, tree)?;
        out.push_str(&format!(": {tag} |\n"));
        for line in vault::encrypt(&plain, secret, salt).lines() {
            out.push_str(&format!("  {line}\n"));
        }
    }
    Ok(out)
}

/// The tag and the bytes a secret is kept under.
fn closed(item: &Val, tree: &crate::tree::Tree) -> crate::error::Result<(&'static str, Vec<u8>)> {
    let json = convert::JsonStyle { indent: None, sorted: true, ascii: true };
    Ok(match &item.data {
        Data::Str(text) => ("!vault", text.as_bytes().to_vec()),
        Data::Bytes(bytes) => ("!vault-binary", bytes.to_vec()),
        _ => ("!vault-json", convert::to_json(item, tree, json)?.into_bytes()),
    })
}
