//! Rows of the types of further plugins: Jib, Terraform and Pulumi.

use super::container::{IMAGE_KEYS, IMAGE_NAME};
use super::words::{BOOL, LABEL, NUMBER, OPEN_MAP, PATH, SUB_PATH, TEXT, TEXTS};
use super::{JIB_BUILD, PULUMI_DEPLOY, TERRAFORM_DEPLOY};
use purlin_model::schema::{Entity, Field, Literal, Shape, entity, field};

/// Keys of how Jib builds, of an action and of a module's `build`.
pub(super) const JIB_KEYS: &[Field] = &[
    field("projectType", Shape::Choice(&["gradle", "maven", "jib", "auto", "mavend"]), "What builds the project.")
        .default(Literal::Text("auto")),
    field("jdkVersion", NUMBER, "The version of the JDK: 8, 11, 13, 17, 21 or 23.").default(Literal::Int(11)),
    field("jdkPath", TEXT, "Where the JDK is."),
    field("dockerBuild", BOOL, "Whether the local Docker daemon gets the image.").default(Literal::Bool(false)),
    field("tarOnly", BOOL, "Whether only an archive is made.").default(Literal::Bool(false)),
    field("tarFormat", Shape::Choice(&["docker", "oci"]), "The format of the archive.")
        .default(Literal::Text("docker")),
    field("gradlePath", TEXT, "Where Gradle is."),
    field("mavenPath", TEXT, "Where Maven is."),
    field("mavenPhases", TEXTS, "The phases that Maven runs.").default(Literal::List(&[Literal::Text("compile")])),
    field("mavendPath", TEXT, "Where the Maven daemon is."),
    field("concurrentMavenBuilds", BOOL, "Whether Maven builds run at the same time.").default(Literal::Bool(false)),
];

pub(super) const JIB_BUILD_ROW: Entity = entity(
    JIB_BUILD,
    "jib-container Build spec",
    "An image that Jib builds.",
    &[
        IMAGE_KEYS,
        JIB_KEYS,
        &[
            field("dockerfile", SUB_PATH, "The Dockerfile.").default(Literal::Text("Dockerfile")),
            field("localId", IMAGE_NAME, "The name of the image on this machine."),
            field("publishId", IMAGE_NAME, "The name under which it is published."),
            field("targetStage", TEXT, "The stage to stop at."),
        ],
    ],
);

/// Keys of a Terraform stack, of an action and of a module; the variables are called the same in both.
pub(super) const TERRAFORM_KEYS: &[Field] = &[
    field("allowDestroy", BOOL, "Whether the stack may be destroyed.").default(Literal::Bool(false)),
    field("autoApply", BOOL, "Whether changes are applied without asking; the provider's choice if not set.")
        .default(Literal::Null),
    field("root", SUB_PATH, "The folder of the stack.").default(Literal::Text(".")),
    field("variables", OPEN_MAP, "Variables of the stack."),
    field("version", Shape::Text, "The version of Terraform."),
    field("workspace", TEXT, "The workspace."),
    field("backendConfig", OPEN_MAP, "How the backend is configured."),
];

pub(super) const TERRAFORM_DEPLOY_ROW: Entity =
    entity(TERRAFORM_DEPLOY, "terraform Deploy spec", "A Terraform stack.", &[TERRAFORM_KEYS]);

/// Keys of a Pulumi stack, of an action and of a module.
pub(super) const PULUMI_KEYS: &[Field] = &[
    field("allowDestroy", BOOL, "Whether the stack may be destroyed.").default(Literal::Bool(true)),
    field("autoApply", BOOL, "Whether changes are applied without asking.").default(Literal::Bool(true)),
    field("createStack", BOOL, "Whether the stack is created.").default(Literal::Bool(false)),
    field("root", SUB_PATH, "The folder of the stack.").default(Literal::Text(".")),
    field("useNewPulumiVarfileSchema", BOOL, "Whether varfiles have the newer form.").default(Literal::Bool(false)),
    field("pulumiVariables", OPEN_MAP, "Variables of the stack.").default(Literal::Map(&[])),
    field("pulumiVarfiles", Shape::ListOf(&PATH), "Files with variables.").default(Literal::List(&[])),
    field("orgName", TEXT, "The organisation."),
    field("cacheStatus", BOOL, "Whether the status is kept between runs.").default(Literal::Bool(false)),
    field("stackReferences", TEXTS, "Stacks whose outputs it uses.").default(Literal::List(&[])),
    field("deployFromPreview", BOOL, "Whether a plan made before is applied.").default(Literal::Bool(false)),
    field("stack", TEXT, "The stack; the environment's name if not set."),
    field("showSecretsInOutput", BOOL, "Whether outputs show secrets.").default(Literal::Bool(false)),
];

pub(super) const PULUMI_DEPLOY_ROW: Entity =
    entity(PULUMI_DEPLOY, "pulumi Deploy spec", "A Pulumi stack.", &[PULUMI_KEYS]);

/// Names of a module's dependencies, by services, tasks or actions.
pub(super) const DEPENDENCIES: Field =
    field("dependencies", Shape::ListOf(&Shape::Union(&[LABEL, Shape::Text])), "Services and tasks that come first.")
        .default(Literal::List(&[]));
