//! The built-in keys of an instance: a fixed list, never reflection.

/// A built-in key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Special {
    /// `.`
    Itself,
    /// `..`
    Up,
    /// `.name`
    Name,
    /// `.type`
    Type,
    /// `.tosca_id` and `.key`
    Id,
    /// `.tosca_name`
    ToscaName,
    /// `.nested_name`
    NestedName,
    /// `.nested_key`
    NestedKey,
    /// `.uri`
    Uri,
    /// `.deployment`
    Deployment,
    /// `.status`
    Status,
    /// `.local_status`
    LocalStatus,
    /// `.state`
    State,
    /// `.priority`
    Priority,
    /// `.required`
    Required,
    /// `.operational`
    Operational,
    /// `.present`
    Present,
    /// `.missing`
    Missing,
    /// `.active`
    Active,
    /// `.parent`
    Parent,
    /// `.parents`
    Parents,
    /// `.ancestors`
    Ancestors,
    /// `.root`
    Root,
    /// `.apex`
    Apex,
    /// `.owner`
    Owner,
    /// `.super`
    Super,
    /// `.instances`
    Instances,
    /// `.descendants`, `.descendents`
    Descendants,
    /// `.all`
    All,
    /// `.capabilities`
    Capabilities,
    /// `.requirements`
    Requirements,
    /// `.relationships`
    Relationships,
    /// `.source`
    Source,
    /// `.target`
    Target,
    /// `.capability`
    Capability,
    /// `.targets`
    Targets,
    /// `.sources`
    Sources,
    /// `.hosted_on`
    HostedOn,
    /// `.configured_by`
    ConfiguredBy,
    /// `.artifacts`
    Artifacts,
    /// `.repository`
    Repository,
    /// `.names`
    Names,
    /// `.attributes`
    Attributes,
    /// `.template`
    Template,
    /// `.base_dir`
    BaseDir,
    /// `.readonly`
    Readonly,
    /// `.imported`
    Imported,
    /// `.shadow`
    Shadow,
    /// `.created`
    Created,
    /// `.protected`
    Protected,
    /// `.last_change`
    LastChange,
    /// `.file`
    File,
    /// `.contents`
    Contents,
    /// `.deploy_path`
    DeployPath,
    /// `.intent`
    Intent,
    /// `.order`
    Order,
    /// `.permissions`
    Permissions,
}

/// A row of the table of built-in keys.
pub struct Row {
    /// As written.
    pub text: &'static str,
    /// The key.
    pub key: Special,
    /// One sentence.
    pub summary: &'static str,
}

const fn row(text: &'static str, key: Special, summary: &'static str) -> Row {
    Row { text, key, summary }
}

/// All built-in keys.
pub const SPECIAL_KEYS: &[Row] = &[
    row(".", Special::Itself, "The instance itself."),
    row("..", Special::Up, "Its parent; null at the root."),
    row(".name", Special::Name, "The instance's name."),
    row(".type", Special::Type, "Name of its TOSCA type."),
    row(".tosca_id", Special::Id, "Its unique id, a query that finds it."),
    row(".key", Special::Id, "The same as `.tosca_id`."),
    row(".tosca_name", Special::ToscaName, "Name of its TOSCA template."),
    row(".nested_name", Special::NestedName, "Its name, prefixed by the outer node inside a substituted topology."),
    row(".nested_key", Special::NestedKey, "Its id, prefixed likewise."),
    row(".uri", Special::Uri, "Address of the ensemble and the instance's id."),
    row(".deployment", Special::Deployment, "Name of the ensemble's directory."),
    row(".status", Special::Status, "Its status, considering what it depends on."),
    row(".local_status", Special::LocalStatus, "Its own status."),
    row(".state", Special::State, "Where it is in its life."),
    row(".priority", Special::Priority, "How much its failure matters."),
    row(".required", Special::Required, "Whether its failure makes its dependants fail."),
    row(".operational", Special::Operational, "Whether its status is ok or degraded."),
    row(".present", Special::Present, "Whether it is there, working or not."),
    row(".missing", Special::Missing, "Whether it is pending or absent."),
    row(".active", Special::Active, "Whether it was created and not deleted."),
    row(".parent", Special::Parent, "Its parent."),
    row(".parents", Special::Parents, "Its parents, the root first."),
    row(".ancestors", Special::Ancestors, "Itself and its parents, nearest first."),
    row(".root", Special::Root, "The root of its topology."),
    row(".apex", Special::Apex, "The root of the outermost topology."),
    row(".owner", Special::Owner, "The node a capability, relationship or artifact belongs to."),
    row(".super", Special::Super, "Its properties as its type defaults them."),
    row(".instances", Special::Instances, "The instances it hosts."),
    row(".descendants", Special::Descendants, "Itself and all it hosts, directly or not."),
    row(".descendents", Special::Descendants, "The same as `.descendants`."),
    row(".all", Special::All, "All instances of the topology, by name."),
    row(".capabilities", Special::Capabilities, "Its capabilities."),
    row(".requirements", Special::Requirements, "Its relationships to other instances."),
    row(".relationships", Special::Relationships, "The relationships that target this capability."),
    row(".source", Special::Source, "The node a relationship starts at."),
    row(".target", Special::Target, "The node a relationship leads to."),
    row(".capability", Special::Capability, "The capability a relationship leads to."),
    row(".targets", Special::Targets, "The nodes it requires, by name of the requirement."),
    row(".sources", Special::Sources, "The nodes that require it, by name of the requirement."),
    row(".hosted_on", Special::HostedOn, "What it is hosted on, directly or not."),
    row(".configured_by", Special::ConfiguredBy, "The nodes that configure it, directly or not."),
    row(".artifacts", Special::Artifacts, "Its artifacts, by name."),
    row(".repository", Special::Repository, "The repository its template comes from, or null."),
    row(".names", Special::Names, "Its attributes, requirements and capabilities, by name."),
    row(".attributes", Special::Attributes, "Its attributes, by name."),
    row(".template", Special::Template, "The template it was made from."),
    row(".base_dir", Special::BaseDir, "Directory of its ensemble."),
    row(".readonly", Special::Readonly, "Whether it belongs to another ensemble."),
    row(".imported", Special::Imported, "Name of the import it comes from, or null."),
    row(".shadow", Special::Shadow, "The instance of another ensemble it stands for, or null."),
    row(".created", Special::Created, "What created it, or null."),
    row(".protected", Special::Protected, "Whether it may not be deleted, or null."),
    row(".last_change", Special::LastChange, "Id of the last change made to it, or null."),
    row(".file", Special::File, "Path of an artifact's file."),
    row(".contents", Special::Contents, "What an artifact holds, if it is written in the template."),
    row(".deploy_path", Special::DeployPath, "Where an artifact is deployed."),
    row(".intent", Special::Intent, "What an artifact is for."),
    row(".order", Special::Order, "An artifact's place among the others."),
    row(".permissions", Special::Permissions, "An artifact's file permissions."),
];

impl Special {
    /// The key with this spelling.
    pub fn parse(text: &str) -> Option<Special> {
        SPECIAL_KEYS.iter().find(|row| row.text == text).map(|row| row.key)
    }
}
