//! Nodes of other ensembles: the directive `select`.
//!
//! A template with it represents an instance stored in an external ensemble. Must not know how ensembles are opened or
//! how instances are put into the tree.

use crate::ensemble::{Ensemble, filters};
use crate::tree::NodeId;
use crate::val::Val;
use ecow::{EcoString, eco_format};
use purlin_tosca::val as tosca;
use std::collections::HashSet;

/// The directive.
pub(in crate::ensemble) const SELECT: &str = "select";

/// An ensemble that the environment names.
pub(in crate::ensemble) struct External {
    /// Its name in the environment.
    pub name: EcoString,
    /// The only instance that it offers; none if it offers all.
    pub only: Option<EcoString>,
    /// The opened ensemble.
    pub ensemble: Ensemble,
}

/// The result of a selection.
pub(in crate::ensemble) enum Found<'a> {
    /// An instance of an external ensemble.
    Instance(&'a External, NodeId),
    /// One of the template's name, but of another type.
    OtherType(&'a External, NodeId),
    /// Nothing.
    Nothing,
}

/// The conditions of a template with the directive.
pub(in crate::ensemble) struct Wanted<'a> {
    /// The template's name.
    pub template: &'a str,
    /// Its type.
    pub type_name: &'a str,
    /// The condition on the other template, whatever its name and type.
    pub filter: Option<&'a tosca::Val>,
    /// The address of an instance with its ensemble: `ENSEMBLE:INSTANCE`. No other conditions apply to it.
    pub address: Option<&'a str>,
}

/// The stored instance of a template with the same name, or of one that passes the filter: those named by the
/// environment come first, then those of ensembles that offer everything.
pub(in crate::ensemble) fn find<'a>(externals: &'a [External], wanted: &Wanted<'_>) -> Found<'a> {
    if let Some(address) = wanted.address {
        return named(externals, address);
    }
    let (named, whole): (Vec<&External>, Vec<&External>) =
        externals.iter().partition(|external| external.only.is_some());
    for external in named.into_iter().chain(whole) {
        let Some(id) = external.offered(wanted) else { continue };
        let types = &external.ensemble.tree.node(id).types;
        let fits = wanted.filter.is_some() || types.iter().any(|known| known == wanted.type_name);
        return if fits { Found::Instance(external, id) } else { Found::OtherType(external, id) };
    }
    Found::Nothing
}

/// The stored instance of an address.
fn named<'a>(externals: &'a [External], address: &str) -> Found<'a> {
    let (ensemble, instance) = address.split_once(':').unwrap_or((address, ""));
    let external = externals.iter().find(|external| external.name == ensemble);
    let found = external.and_then(|external| {
        let name = if instance.is_empty() { external.only.as_deref()? } else { instance };
        let id = external.ensemble.tree.by_name(name)?;
        stored(&external.ensemble).contains(name).then_some((external, id))
    });
    found.map_or(Found::Nothing, |(external, id)| Found::Instance(external, id))
}

impl External {
    fn offered(&self, wanted: &Wanted<'_>) -> Option<NodeId> {
        let (tree, stored) = (&self.ensemble.tree, stored(&self.ensemble));
        let only = self.only.as_ref();
        let offers = |name: &EcoString| stored.contains(name.as_str()) && only.is_none_or(|only| only == name);
        let instances = tree.named().skip(1).filter(|(name, _)| offers(name));
        instances.map(|(_, id)| id).find(|id| match wanted.filter {
            Some(filter) => self.passes(*id, filter),
            None => tree.node(*id).template == wanted.template,
        })
    }

    /// Whether the template of an instance passes a filter.
    fn passes(&self, id: NodeId, filter: &tosca::Val) -> bool {
        let service = &self.ensemble.service;
        let template = service.topology.nodes.get(&self.ensemble.tree.node(id).template);
        template.is_some_and(|template| filters::selects(&service.model, template, filter))
    }

    /// An instance's name, unique among those of all ensembles.
    pub(in crate::ensemble) fn address(&self, id: NodeId) -> EcoString {
        eco_format!("{}:{}", self.name, self.ensemble.tree.node(id).name)
    }
}

/// Names of the instances that an ensemble stores, at any depth.
fn stored(ensemble: &Ensemble) -> HashSet<&str> {
    let mut names = HashSet::new();
    let status = ensemble.manifest.document.get("status");
    let mut pending: Vec<&Val> = status.and_then(|status| status.get("instances")).into_iter().collect();
    while let Some(instances) = pending.pop() {
        for (name, said) in instances.as_map().into_iter().flatten() {
            names.extend(name.as_str());
            pending.extend(said.get("instances"));
        }
    }
    names
}
