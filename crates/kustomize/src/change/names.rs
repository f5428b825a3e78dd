//! Namespace, prefix and suffix.

use crate::edit::{as_list, set, text};
use crate::fieldspec::{FieldSpec, visit};
use crate::identity::Gvk;
use crate::resource::Resource;
use ecow::{EcoString, eco_format};
use purlin_value::origin::Piece;
use purlin_value::{Data, Origin, Origins, Value};

/// Which subjects of role bindings get the namespace.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Subjects {
    /// Those named `default`.
    Default,
    /// All accounts.
    Accounts,
    /// None.
    None,
}

/// Puts everything that can be in a namespace into one.
pub fn add_namespace(
    namespace: &Value,
    specs: &[FieldSpec],
    subjects: Subjects,
    only_missing: bool,
    resources: &mut [Resource],
) -> Result<(), String> {
    let Some(written) = namespace.as_str().filter(|written| !written.is_empty()) else { return Ok(()) };
    for resource in resources {
        resource.remember();
        let gvk = resource.gvk();
        let mut write = |field: &mut Value| match &field.data {
            Data::Map(_) | Data::List(_) => Err(format!("expected a namespace, found {}", field.kind_name())),
            Data::Str(old) if only_missing && !old.is_empty() => Ok(()),
            _ => {
                *field = Value::of(Data::Str(written.into()), namespace.origin, namespace.taint());
                Ok(())
            }
        };
        if !gvk.is_cluster_wide() {
            visit(&mut resource.value, &["metadata".into(), "namespace".into()], true, &mut write)?;
        }
        let is_binding = matches!(gvk.kind.as_str(), "RoleBinding" | "ClusterRoleBinding");
        if is_binding {
            bind(&mut resource.value, subjects, &mut write)?;
        }
        let is_special = |spec: &&FieldSpec| {
            spec.is_at(&["metadata", "namespace"])
                || (spec.is_at(&["metadata", "name"]) && text(&resource.value, &["apiVersion"]) != "v1")
                || (is_binding && spec.of.kind.ends_with("RoleBinding") && spec.is_at(&["subjects", "namespace"]))
        };
        let concerned: Vec<&FieldSpec> =
            specs.iter().filter(|spec| spec.of.selects(&gvk)).filter(|spec| !is_special(spec)).collect();
        for spec in concerned {
            visit(&mut resource.value, &spec.path, spec.create, &mut write)?;
        }
    }
    Ok(())
}

/// Accounts that are in this build follow by their name; the default one is meant without that.
fn bind(
    binding: &mut Value,
    subjects: Subjects,
    write: &mut impl FnMut(&mut Value) -> Result<(), String>,
) -> Result<(), String> {
    visit(binding, &["subjects".into()], false, &mut |list| {
        for subject in as_list(list).into_iter().flat_map(|list| list.iter_mut()) {
            let is_meant = match subjects {
                Subjects::Default => text(subject, &["name"]) == "default",
                Subjects::Accounts => text(subject, &["kind"]) == "ServiceAccount",
                Subjects::None => false,
            };
            if is_meant {
                let mut namespace = subject.get("namespace").cloned().unwrap_or_else(Value::null);
                write(&mut namespace)?;
                set(subject, "namespace", namespace);
            }
        }
        Ok(())
    })
}

/// A text before or behind names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Affix {
    /// Before.
    Prefix,
    /// Behind.
    Suffix,
}

/// Puts a text before or behind names. Definitions and namespaces keep theirs.
pub fn affix(
    origins: &Origins,
    affix: Affix,
    added: &Value,
    specs: &[FieldSpec],
    resources: &mut [Resource],
) -> Result<(), String> {
    let (origin, added) = (added.origin, added.as_str().unwrap_or_default());
    for resource in resources {
        let gvk = resource.first_gvk();
        if keeps_name(&gvk) {
            continue;
        }
        for spec in specs.iter().filter(|spec| spec.of.selects(&gvk)) {
            if spec.is_at(&["metadata", "name"]) && !added.is_empty() {
                let notes = if affix == Affix::Prefix { &mut resource.prefixes } else { &mut resource.suffixes };
                notes.push(added.into());
                resource.remember();
            }
            // Kinds may have changed since the resource was read.
            if !spec.of.selects(&resource.gvk()) {
                continue;
            }
            visit(&mut resource.value, &spec.path, spec.create, &mut |field| {
                let old = scalar_text(field).ok_or_else(|| format!("expected a name, found {}", field.kind_name()))?;
                let (new, pieces) = match affix {
                    Affix::Prefix => (eco_format!("{added}{old}"), [(added.len(), origin), (old.len(), field.origin)]),
                    Affix::Suffix => (eco_format!("{old}{added}"), [(old.len(), field.origin), (added.len(), origin)]),
                };
                let origin = origins.derived(affix.key(), None, in_a_row(&pieces));
                *field = Value::of(Data::Str(new), origin, field.taint());
                Ok(())
            })?;
        }
    }
    Ok(())
}

impl Affix {
    fn key(self) -> &'static str {
        match self {
            Affix::Prefix => "namePrefix",
            Affix::Suffix => "nameSuffix",
        }
    }
}

/// Pieces of a text by their lengths, one behind the other.
pub fn in_a_row(parts: &[(usize, Origin)]) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(parts.len());
    let mut start = 0_u32;
    for (length, origin) in parts {
        let end = start.saturating_add(u32::try_from(*length).unwrap_or(u32::MAX));
        pieces.push(Piece { start, end, origin: *origin });
        start = end;
    }
    pieces
}

fn keeps_name(gvk: &Gvk) -> bool {
    match gvk.kind.as_str() {
        "CustomResourceDefinition" | "Namespace" => true,
        "APIService" => gvk.group == "apiregistration.k8s.io",
        _ => false,
    }
}

/// The text of a scalar, as it is written.
pub fn scalar_text(value: &Value) -> Option<EcoString> {
    match &value.data {
        Data::Str(text) | Data::BigInt(text) => Some(text.clone()),
        Data::Int(number) => Some(eco_format!("{number}")),
        Data::Float(number) => Some(eco_format!("{number}")),
        Data::Bool(flag) => Some(eco_format!("{flag}")),
        Data::Map(_) | Data::List(_) => None,
        _ => Some("".into()),
    }
}
