//! Names in resources that mean other resources follow those when they are renamed.

use crate::config::Config;
use crate::edit::{as_list, set, text};
use crate::fieldspec::visit;
use crate::identity::{Gvk, Id, NO_NAMESPACE};
use crate::index::{Places, SPECS_PER_STEP, work_of_all};
use crate::kustomization::{Problem, over, spend, wrong};
use crate::noted;
use crate::resource::Resource;
use ecow::EcoString;
use purlin_syntax::Span;
use purlin_value::meter::Exceeded;
use purlin_value::origin::Piece;
use purlin_value::{Data, Origin, Session, Value};
use std::cell::OnceCell;
use std::collections::HashSet;

/// Name of a resource for its references.
struct Named {
    gvk: Gvk,
    id: Id,
    /// Origin of the name.
    origin: Origin,
    /// The namespace as it is written.
    namespace: EcoString,
    before: Vec<Id>,
    /// The location of the name, if names are noted.
    named_at: Option<Span>,
    prefixes: Vec<EcoString>,
    suffixes: Vec<EcoString>,
}

impl Named {
    fn is_cluster_wide(&self) -> bool {
        self.id.namespace == NO_NAMESPACE
    }

    fn first_namespace(&self) -> &EcoString {
        &self.before.first().unwrap_or(&self.id).namespace
    }

    /// Whether it had a kind that a selector selects.
    fn was(&self, wanted: &Gvk) -> bool {
        self.before.iter().any(|id| wanted.selects(&Gvk { kind: id.kind.clone(), ..self.gvk.clone() }))
    }
}

/// Updates all references. The error names a resource with an ambiguous reference; `top` is the kustomization.
pub fn update(session: &Session, top: &Value, config: &Config, resources: &mut [Resource]) -> Result<(), Problem> {
    if session.names.is_on() {
        note_unchanged(session, top, config, resources);
    }
    let named: Vec<Named> = resources.iter().map(name).collect();
    follow_all(session, top, config, resources, &named)
}

/// Notes references to resources that keep their names, which need not be followed otherwise.
fn note_unchanged(session: &Session, top: &Value, config: &Config, resources: &[Resource]) {
    let named: Vec<Named> = resources
        .iter()
        .map(|resource| {
            let now = if resource.before.is_empty() { vec![resource.id()] } else { Vec::new() };
            Named { before: now, ..name(resource) }
        })
        .collect();
    let mut copies = resources.to_vec();
    // An ambiguous reference is only an error if something was renamed.
    let _ = follow_all(session, top, config, &mut copies, &named);
}

fn follow_all(
    session: &Session,
    top: &Value,
    config: &Config,
    resources: &mut [Resource],
    named: &[Named],
) -> Result<(), Problem> {
    let (mut by_name, mut by_origin): (Places, Places) = Default::default();
    for (at, named) in named.iter().enumerate() {
        by_origin.entry(named.first_namespace().clone()).or_default().push(at);
        let names: HashSet<&EcoString> = named.before.iter().map(|id| &id.name).collect();
        names.into_iter().for_each(|name| by_name.entry(name.clone()).or_default().push(at));
    }
    // Only references to renamed resources are followed.
    if by_name.is_empty() {
        return Ok(());
    }
    let fields: usize = config.name_reference.iter().map(|references| references.referrers.len()).sum();
    spend(session, top, work_of_all(resources, 1 + fields as u64 / SPECS_PER_STEP), 0)?;
    for (resource, own) in resources.iter_mut().zip(named) {
        let first = Gvk { kind: own.before.first().unwrap_or(&own.id).kind.clone(), ..own.gvk.clone() };
        let accounts = accounts(resource);
        for references in &config.name_reference {
            for spec in references.referrers.iter().filter(|spec| spec.of.selects(&first)) {
                let role = if spec.path.ends_with(&["roleRef".into(), "name".into()]) { role(resource) } else { None };
                let from = Referrer { own, accounts: &accounts, target: &references.target, role };
                let exceeded = OnceCell::new();
                let names = Names { session, named, by_name: &by_name, by_origin: &by_origin, exceeded: &exceeded };
                let done = visit(&mut resource.value, &spec.path, false, &mut |field| follow(field, &from, &names));
                if let Some(limit) = exceeded.into_inner() {
                    return Err(over(session, top, limit));
                }
                done.map_err(|why| {
                    let message = format!("{} `{}`: `{}` {why}", own.id.kind, own.id.name, spec.path.join("."));
                    wrong(session, top, message)
                })?;
            }
        }
    }
    Ok(())
}

fn name(resource: &Resource) -> Named {
    Named {
        gvk: resource.gvk(),
        id: resource.id(),
        origin: resource.value.get("metadata").and_then(|all| all.get("name")).map_or(Origin::NONE, |name| name.origin),
        namespace: resource.namespace().into(),
        before: resource.before.clone(),
        named_at: resource.named_at,
        prefixes: resource.prefixes.clone(),
        suffixes: resource.suffixes.clone(),
    }
}

/// The namespaces of the accounts that a role binding names: it may refer to resources there.
fn accounts(resource: &Resource) -> Vec<EcoString> {
    let subjects = resource.value.get("subjects").filter(|_| resource.kind() == "RoleBinding");
    let subjects = subjects.and_then(Value::as_list).unwrap_or_default().iter();
    let accounts = subjects.filter(|subject| text(subject, &["kind"]) == "ServiceAccount");
    accounts.map(|account| EcoString::from(text(account, &["namespace"]))).filter(|name| !name.is_empty()).collect()
}

/// The kind of role that a binding means.
fn role(resource: &Resource) -> Option<Gvk> {
    let part = |key: &str| resource.value.get("roleRef")?.get(key)?.as_str().map(EcoString::from);
    Some(Gvk { group: part("apiGroup")?, version: "".into(), kind: part("kind")? })
}

/// The referring resource, and the target kind.
struct Referrer<'r> {
    own: &'r Named,
    accounts: &'r [EcoString],
    target: &'r Gvk,
    role: Option<Gvk>,
}

/// All resources, those that had a name, and those that were in a namespace at first.
struct Names<'n> {
    named: &'n [Named],
    by_name: &'n Places,
    by_origin: &'n Places,
    session: &'n Session,
    /// That there are no steps left to look at candidates.
    exceeded: &'n OnceCell<Exceeded>,
}

impl Names<'_> {
    /// Notes that a name means a resource.
    fn note(&self, chosen: Option<&Named>, name: &str, origin: Origin) {
        noted::uses_at(self.session, chosen.and_then(|chosen| chosen.named_at), name, origin);
    }

    /// A name that follows that of a resource.
    fn following(&self, chosen: &Named, old: Origin) -> Value {
        let pieces = [chosen.origin, old].map(Piece::whole).to_vec();
        let origin = self.session.origins.derived("name of a resource", None, pieces);
        Value::str(chosen.id.name.clone()).with_origin(origin)
    }
}

/// Updates a name, an object with a name, or a list of them.
fn follow(field: &mut Value, from: &Referrer<'_>, names: &Names<'_>) -> Result<(), String> {
    match &field.data {
        Data::List(_) => {
            let items = as_list(field).into_iter().flat_map(|list| list.iter_mut());
            items.filter(|item| !item.is_null()).try_for_each(|item| match &item.data {
                Data::List(_) => Err("is a list of lists".to_owned()),
                _ => follow(item, from, names),
            })
        }
        Data::Map(_) => follow_object(field, from, names),
        Data::Str(old) => {
            let chosen = choose(old, None, from, names, |a, b| a.id.name == b.id.name)?;
            names.note(chosen, old, field.origin);
            if let Some(chosen) = chosen.filter(|chosen| chosen.id.name != *old) {
                *field = names.following(chosen, field.origin);
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn follow_object(object: &mut Value, from: &Referrer<'_>, names: &Names<'_>) -> Result<(), String> {
    let Some(old) = object.get("name").map(|name| EcoString::from(name.as_str().unwrap_or_default())) else {
        return Err("names an object without `name`".to_owned());
    };
    let namespace = object.get("namespace").map(|namespace| EcoString::from(namespace.as_str().unwrap_or_default()));
    let is_same = |a: &Named, b: &Named| a.id.name == b.id.name && a.namespace == b.namespace;
    let Some(chosen) = choose(&old, namespace.as_ref(), from, names, is_same)? else { return Ok(()) };
    names.note(Some(chosen), &old, object.get("name").map_or(Origin::NONE, |name| name.origin));
    if chosen.id.name != old {
        let origin = object.get("name").map_or(Origin::NONE, |name| name.origin);
        set(object, "name", names.following(chosen, origin));
    }
    if !chosen.namespace.is_empty() {
        set(object, "namespace", Value::str(chosen.namespace.clone()));
    }
    Ok(())
}

/// Steps for checking whether a name refers to a resource.
const STEPS_PER_CANDIDATE: u64 = 4;

/// The resource that a name means.
fn choose<'n>(
    old: &EcoString,
    namespace: Option<&EcoString>,
    from: &Referrer<'_>,
    names: &Names<'n>,
    is_same: impl Fn(&Named, &Named) -> bool,
) -> Result<Option<&'n Named>, String> {
    let candidates = names.by_name.get(old).map(Vec::as_slice).unwrap_or_default();
    if let Err(limit) = names.session.meter.charge(1 + candidates.len() as u64 * STEPS_PER_CANDIDATE, 0) {
        names.exceeded.get_or_init(|| limit);
        return Ok(None);
    }
    let candidates = candidates.iter().filter_map(|at| names.named.get(*at));
    let in_reach: Vec<&Named> = candidates.filter(|candidate| from.reaches(candidate)).collect();
    let mut left = match namespace {
        Some(namespace) => in_namespace(namespace, from, names, in_reach),
        None => in_reach,
    };
    left.retain(|candidate| candidate.was(from.target));
    left.retain(|candidate| from.role.as_ref().is_none_or(|role| candidate.was(role)));
    left.retain(|candidate| from.may_mean(candidate));
    if left.len() != 1 {
        left.retain(|candidate| from.is_made_like(candidate, true));
    }
    if left.len() > 1 {
        left.retain(|candidate| from.is_made_like(candidate, false));
    }
    let Some((first, rest)) = left.split_first() else { return Ok(None) };
    if rest.iter().all(|other| is_same(first, other)) {
        return Ok(Some(first));
    }
    let kinds: Vec<String> = left.iter().map(|one| format!("{} `{}`", one.id.kind, one.id.name)).collect();
    Err(format!("may mean several resources: {}", kinds.join(", ")))
}

/// Those that were in a namespace at first, if anything was; else those that are in it now.
fn in_namespace<'n>(
    namespace: &EcoString,
    from: &Referrer<'_>,
    names: &Names<'n>,
    candidates: Vec<&'n Named>,
) -> Vec<&'n Named> {
    let mut origin = names.by_origin.get(namespace).into_iter().flatten().filter_map(|at| names.named.get(*at));
    let is_origin = origin.any(|named| from.reaches(named));
    let is_meant = |candidate: &&Named| match is_origin {
        true => candidate.first_namespace() == namespace,
        false => candidate.id.namespace == *namespace,
    };
    candidates.into_iter().filter(is_meant).collect()
}

impl Referrer<'_> {
    /// A resource can refer to others in its namespace and to those without one, and a binding to the namespaces of its
    /// accounts.
    fn reaches(&self, other: &Named) -> bool {
        self.own.is_cluster_wide()
            || other.is_cluster_wide()
            || other.id.namespace == self.own.id.namespace
            || self.accounts.contains(&other.namespace)
    }

    fn may_mean(&self, other: &Named) -> bool {
        self.own.is_cluster_wide()
            || other.is_cluster_wide()
            || other.gvk.kind == "ServiceAccount"
            || other.id.namespace == self.own.id.namespace
    }

    /// Whether both have the same last prefixes and suffixes, as far as the shorter list goes.
    fn is_made_like(&self, other: &Named, or_none: bool) -> bool {
        let ends_like = |a: &[EcoString], b: &[EcoString]| {
            let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
            (or_none && short.is_empty()) || if short.is_empty() { long.is_empty() } else { long.ends_with(short) }
        };
        ends_like(&self.own.prefixes, &other.prefixes) && ends_like(&self.own.suffixes, &other.suffixes)
    }
}
