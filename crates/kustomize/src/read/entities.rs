//! The table of kustomization files: their keys, for reading, schemas, completion and reference pages.
//!
//! The order of rows is the order in which Kustomize writes keys. Must not know what a key does.

use purlin_model::schema::{Entity, Field, Kind, Literal, Schema, Shape, entity, field};

purlin_model::kinds!(
    KUSTOMIZATION,
    METADATA,
    LABEL,
    FIELD,
    PATCH,
    SELECTOR,
    PATCH_OPTIONS,
    IMAGE,
    REPLACEMENT,
    SOURCE,
    TARGET,
    FIELD_OPTIONS,
    REPLICA,
    VARIABLE,
    VARIABLE_OBJECT,
    VARIABLE_FIELD,
    SORTING,
    ORDER,
    CONFIG_MAP,
    SECRET,
    GENERATOR_OPTIONS,
    HELM_GLOBALS,
    HELM_CHART,
    OLD_HELM_CHART,
);

const TEXT: Shape = Shape::Text;
const TEXTS: Shape = Shape::ListOf(&Shape::Text);
const PAIRS: Shape = Shape::MapOf(&Shape::Text);

const KUSTOMIZATION_ROW: Entity = entity(
    KUSTOMIZATION,
    "kustomization",
    "Resources, and the changes made to them.",
    &[&[
        field("apiVersion", TEXT, "`kustomize.config.k8s.io/v1beta1`, or `v1alpha1` for components."),
        field("kind", Shape::Choice(&["Kustomization", "Component"]), "`Component` if other kustomizations add it."),
        field("metadata", Shape::One(METADATA), "Name, labels and annotations of the kustomization itself."),
        field("openapi", PAIRS, "Schema of merge keys: a built-in `version`, or a `path`."),
        field("namePrefix", TEXT, "Text before the name of every resource and of references to it."),
        field("nameSuffix", TEXT, "Text after the name of every resource and of references to it."),
        field("namespace", TEXT, "Namespace of every namespaced resource."),
        field("commonLabels", PAIRS, "Labels of every resource, its selectors and its pod templates.")
            .deprecated("use `labels`"),
        field("labels", Shape::List(LABEL), "Labels of resources, with or without selectors and templates."),
        field("commonAnnotations", PAIRS, "Annotations of every resource and its pod templates."),
        field("patchesStrategicMerge", TEXTS, "Files or texts that are merged over resources of the same name.")
            .path()
            .deprecated("use `patches`"),
        field("patchesJson6902", Shape::List(PATCH), "JSON patches, each with its target.").deprecated("use `patches`"),
        field("patches", Shape::List(PATCH), "Strategic merge patches and JSON patches."),
        field("images", Shape::List(IMAGE), "New names, tags and digests of images."),
        field("imageTags", Shape::List(IMAGE), "New tags of images.").deprecated("use `images`"),
        field("replacements", Shape::List(REPLACEMENT), "Values copied from one field to others."),
        field("replicas", Shape::List(REPLICA), "Numbers of replicas, by the names of resources."),
        field("vars", Shape::List(VARIABLE), "Values of fields that texts `$(NAME)` refer to.")
            .deprecated("use `replacements`"),
        field("sortOptions", Shape::One(SORTING), "Order of the resources in the result."),
        field("resources", TEXTS, "Files with resources, and folders of other kustomizations.").path(),
        field("components", TEXTS, "Folders of components, applied after the resources are read.").path(),
        field("crds", TEXTS, "Files with OpenAPI definitions of custom resources, for references to names.").path(),
        field("bases", TEXTS, "Folders of other kustomizations.").path().deprecated("use `resources`"),
        field("configMapGenerator", Shape::List(CONFIG_MAP), "ConfigMaps made of files and values."),
        field("secretGenerator", Shape::List(SECRET), "Secrets made of files and values."),
        field("helmGlobals", Shape::One(HELM_GLOBALS), "Settings of all charts."),
        field("helmCharts", Shape::List(HELM_CHART), "Charts that are rendered into resources."),
        field("helmChartInflationGenerator", Shape::List(OLD_HELM_CHART), "Charts, in an older notation.")
            .deprecated("use `helmCharts`"),
        field("generatorOptions", Shape::One(GENERATOR_OPTIONS), "Options of all generators."),
        field("configurations", TEXTS, "Files that tell transformers which fields to change.").path(),
        field("generators", TEXTS, "Files, folders or texts with generator plugins.").path(),
        field("transformers", TEXTS, "Files, folders or texts with transformer plugins.").path(),
        field("validators", TEXTS, "Files, folders or texts with validator plugins.").path(),
        field("buildMetadata", TEXTS, "Annotations and labels that tell how a resource was built."),
    ]],
);

const METADATA_ROW: Entity = entity(
    METADATA,
    "metadata",
    "Name and notes of a kustomization.",
    &[&[
        field("name", TEXT, "Name of the kustomization."),
        field("namespace", TEXT, "Namespace of the kustomization itself; resources do not get it."),
        field("labels", PAIRS, "Labels of the kustomization itself."),
        field("annotations", PAIRS, "Annotations of the kustomization itself."),
    ]],
);

const LABEL_ROW: Entity = entity(
    LABEL,
    "label set",
    "Labels, and where they are added.",
    &[&[
        field("pairs", PAIRS, "The labels."),
        field("includeSelectors", Shape::Bool, "Whether selectors and pod templates get them too.")
            .default(Literal::Bool(false)),
        field("includeTemplates", Shape::Bool, "Whether pod templates get them, without selectors.")
            .default(Literal::Bool(false)),
        field("fields", Shape::List(FIELD), "Further fields that get them."),
    ]],
);

const FIELD_ROW: Entity = entity(
    FIELD,
    "field",
    "A field of some kinds of resources.",
    &[&[
        field("group", TEXT, "API group of the resources; any if not set."),
        field("version", TEXT, "API version of the resources; any if not set."),
        field("kind", TEXT, "Kind of the resources; any if not set."),
        field("path", TEXT, "Path of the field, with `/` between its parts and `[]` after lists."),
        field("create", Shape::Bool, "Whether the field is created where it is missing.").default(Literal::Bool(false)),
    ]],
);

const PATCH_ROW: Entity = entity(
    PATCH,
    "patch",
    "A change to one or several resources.",
    &[&[
        field("path", TEXT, "File with the patch.").path(),
        field("patch", TEXT, "The patch itself, as text."),
        field("target", Shape::One(SELECTOR), "Resources that it changes."),
        field("options", Shape::One(PATCH_OPTIONS), "Changes that are allowed beside those of fields."),
    ]],
);

const SELECTOR_ROW: Entity = entity(
    SELECTOR,
    "selector",
    "Resources, by their kind, name, labels or annotations. Parts that are not set match all.",
    &[&[
        field("group", TEXT, "API group, as a regular expression."),
        field("version", TEXT, "API version, as a regular expression."),
        field("kind", TEXT, "Kind, as a regular expression."),
        field("name", TEXT, "Name, as a regular expression."),
        field("namespace", TEXT, "Namespace, as a regular expression."),
        field("annotationSelector", TEXT, "Annotations, in the notation of Kubernetes' selectors."),
        field("labelSelector", TEXT, "Labels, in the notation of Kubernetes' selectors."),
    ]],
);

const PATCH_OPTIONS_ROW: Entity = entity(
    PATCH_OPTIONS,
    "patch options",
    "Changes that a patch may make beside those of fields.",
    &[&[
        field("allowNameChange", Shape::Bool, "Whether it may change the name.").default(Literal::Bool(false)),
        field("allowKindChange", Shape::Bool, "Whether it may change the kind.").default(Literal::Bool(false)),
    ]],
);

const IMAGE_ROW: Entity = entity(
    IMAGE,
    "image",
    "A new name, tag or digest of an image.",
    &[&[
        field("name", TEXT, "Name of the image as it is written in resources, without tag."),
        field("newName", TEXT, "New name."),
        field("tagSuffix", TEXT, "Text after the tag."),
        field("newTag", TEXT, "New tag."),
        field("digest", TEXT, "New digest; it replaces the tag."),
    ]],
);

const REPLACEMENT_ROW: Entity = entity(
    REPLACEMENT,
    "replacement",
    "A value that is copied to other fields.",
    &[&[
        field("path", TEXT, "File with replacements, instead of `source` and `targets`.").path(),
        field("source", Shape::One(SOURCE), "Field that the value is read from."),
        field("targets", Shape::List(TARGET), "Fields that it is written to."),
    ]],
);

const SOURCE_ROW: Entity = entity(
    SOURCE,
    "source",
    "The field that a value is read from.",
    &[&[
        field("group", TEXT, "API group of the resource."),
        field("version", TEXT, "API version of the resource."),
        field("kind", TEXT, "Kind of the resource."),
        field("name", TEXT, "Name of the resource."),
        field("namespace", TEXT, "Namespace of the resource."),
        field("fieldPath", TEXT, "Path of the field, with dots.").default(Literal::Text("metadata.name")),
        field("options", Shape::One(FIELD_OPTIONS), "The part of the field that is read."),
    ]],
);

const TARGET_ROW: Entity = entity(
    TARGET,
    "target",
    "The fields that a value is written to.",
    &[&[
        field("select", Shape::One(SELECTOR), "Resources whose fields are changed."),
        field("reject", Shape::List(SELECTOR), "Resources that are left as they are."),
        field("fieldPaths", TEXTS, "Paths of the fields, with dots; `[name=x]` and `*` choose items of lists."),
        field("options", Shape::One(FIELD_OPTIONS), "The part of the field that is replaced."),
    ]],
);

const FIELD_OPTIONS_ROW: Entity = entity(
    FIELD_OPTIONS,
    "field options",
    "A part of a field's text.",
    &[&[
        field("delimiter", TEXT, "Text between the parts."),
        field("index", Shape::Integer, "Number of the part, from 0; `-1` writes before the first.")
            .default(Literal::Int(0)),
        field("encoding", TEXT, "Encoding of the field: `base64`."),
        field("create", Shape::Bool, "Whether the field is created where it is missing.").default(Literal::Bool(false)),
    ]],
);

const REPLICA_ROW: Entity = entity(
    REPLICA,
    "replicas",
    "A number of replicas.",
    &[&[field("name", TEXT, "Name of the resource."), field("count", Shape::Integer, "Number of its replicas.")]],
);

const VARIABLE_ROW: Entity = entity(
    VARIABLE,
    "variable",
    "The value of a field, for texts that refer to it with `$(NAME)`.",
    &[&[
        field("name", TEXT, "Name of the variable."),
        field("objref", Shape::One(VARIABLE_OBJECT), "Resource that it is read from."),
        field("fieldref", Shape::One(VARIABLE_FIELD), "Field that it is read from; `metadata.name` if not set."),
    ]],
);

const VARIABLE_OBJECT_ROW: Entity = entity(
    VARIABLE_OBJECT,
    "variable's resource",
    "The resource that a variable is read from.",
    &[&[
        field("apiVersion", TEXT, "API version of the resource."),
        field("group", TEXT, "API group of the resource."),
        field("version", TEXT, "Version in the API group."),
        field("kind", TEXT, "Kind of the resource."),
        field("name", TEXT, "Name of the resource."),
        field("namespace", TEXT, "Namespace of the resource."),
    ]],
);

const VARIABLE_FIELD_ROW: Entity = entity(
    VARIABLE_FIELD,
    "variable's field",
    "The field that a variable is read from.",
    &[&[field("fieldpath", TEXT, "Path of the field, with dots.").default(Literal::Text("metadata.name"))]],
);

const SORTING_ROW: Entity = entity(
    SORTING,
    "sorting",
    "The order of resources in the result.",
    &[&[
        field("order", Shape::Choice(&["legacy", "fifo"]), "`fifo` keeps the order of files; `legacy` sorts by kind."),
        field("legacySortOptions", Shape::One(ORDER), "Kinds that come first and last, for `legacy`."),
    ]],
);

const ORDER_ROW: Entity = entity(
    ORDER,
    "order of kinds",
    "The kinds that come first and last.",
    &[&[
        field("orderFirst", TEXTS, "Kinds that come first, in this order."),
        field("orderLast", TEXTS, "Kinds that come last, in this order."),
    ]],
);

/// The keys that generators of ConfigMaps and Secrets share.
const GENERATED: &[Field] = &[
    field("namespace", TEXT, "Namespace of the generated resource."),
    field("name", TEXT, "Name of the generated resource, before a hash is added."),
    field("behavior", Shape::Choice(&["create", "replace", "merge"]), "What happens to a resource of the same name."),
    field("literals", TEXTS, "Entries, as `KEY=VALUE`."),
    field("files", TEXTS, "Files whose content becomes an entry, as `PATH` or `KEY=PATH`.").path(),
    field("envs", TEXTS, "Files with one `KEY=VALUE` per line.").path(),
    field("env", TEXT, "One file with `KEY=VALUE` lines.").path().deprecated("use `envs`"),
    field("options", Shape::One(GENERATOR_OPTIONS), "Options of this generator."),
];

const CONFIG_MAP_ROW: Entity =
    entity(CONFIG_MAP, "ConfigMap generator", "A ConfigMap made of files and values.", &[GENERATED]);

const SECRET_ROW: Entity = entity(
    SECRET,
    "Secret generator",
    "A Secret made of files and values.",
    &[GENERATED, &[field("type", TEXT, "Type of the Secret.").default(Literal::Text("Opaque"))]],
);

const GENERATOR_OPTIONS_ROW: Entity = entity(
    GENERATOR_OPTIONS,
    "generator options",
    "Labels, annotations and names of generated resources.",
    &[&[
        field("labels", PAIRS, "Labels of generated resources."),
        field("annotations", PAIRS, "Annotations of generated resources."),
        field("disableNameSuffixHash", Shape::Bool, "Whether names get no hash of the content.")
            .default(Literal::Bool(false)),
        field("immutable", Shape::Bool, "Whether generated resources are immutable.").default(Literal::Bool(false)),
    ]],
);

const HELM_GLOBALS_ROW: Entity = entity(
    HELM_GLOBALS,
    "chart settings",
    "Settings of all charts of a kustomization.",
    &[&[
        field("chartHome", TEXT, "Folder of the charts.").path().default(Literal::Text("charts")),
        field("configHome", TEXT, "Folder of Helm's own settings.").path(),
    ]],
);

const HELM_CHART_ROW: Entity = entity(
    HELM_CHART,
    "chart",
    "A chart that is rendered into resources.",
    &[&[
        field("name", TEXT, "Name of the chart, and of its folder."),
        field("version", TEXT, "Version of the chart."),
        field("repo", TEXT, "Address of the chart's repository."),
        field("releaseName", TEXT, "Name of the release."),
        field("namespace", TEXT, "Namespace of the release."),
        field("additionalValuesFiles", TEXTS, "Files with values, after `valuesFile`.").path(),
        field("valuesFile", TEXT, "File with values, instead of the chart's own.").path(),
        field("valuesInline", Shape::Any, "Values, over or under those of `valuesFile`."),
        field(
            "valuesMerge",
            Shape::Choice(&["override", "merge", "replace"]),
            "How `valuesInline` and `valuesFile` combine.",
        ),
        field("includeCRDs", Shape::Bool, "Whether custom resource definitions of the chart are included.")
            .default(Literal::Bool(false)),
        field("skipHooks", Shape::Bool, "Whether hooks are left out.").default(Literal::Bool(false)),
        field("apiVersions", TEXTS, "API versions that templates see as available."),
        field("kubeVersion", TEXT, "Version of Kubernetes that templates see."),
        field("nameTemplate", TEXT, "Template of the release's name."),
        field("skipTests", Shape::Bool, "Whether tests are left out.").default(Literal::Bool(false)),
        field("debug", Shape::Bool, "Whether Helm prints more.").default(Literal::Bool(false)),
    ]],
);

const OLD_HELM_CHART_ROW: Entity = entity(
    OLD_HELM_CHART,
    "older chart",
    "A chart, in the notation before `helmCharts`.",
    &[&[
        field("chartName", TEXT, "Name of the chart."),
        field("chartVersion", TEXT, "Version of the chart."),
        field("chartRepoUrl", TEXT, "Address of the chart's repository."),
        field("chartHome", TEXT, "Folder of the chart.").path(),
        field("chartRepoName", TEXT, "Name of the chart's repository."),
        field("helmBin", TEXT, "Path of Helm's program."),
        field("helmHome", TEXT, "Folder of Helm's own settings."),
        field("values", TEXT, "File with values.").path(),
        field("valuesLocal", Shape::Any, "Values."),
        field(
            "valuesMerge",
            Shape::Choice(&["override", "merge", "replace"]),
            "How `valuesLocal` and `values` combine.",
        ),
        field("releaseName", TEXT, "Name of the release."),
        field("releaseNamespace", TEXT, "Namespace of the release."),
        field("extraArgs", TEXTS, "Further arguments for Helm."),
    ]],
);

/// The table.
pub static SCHEMA: Schema = Schema::new(
    "kustomization",
    &["v1beta1"],
    &[
        KUSTOMIZATION_ROW,
        METADATA_ROW,
        LABEL_ROW,
        FIELD_ROW,
        PATCH_ROW,
        SELECTOR_ROW,
        PATCH_OPTIONS_ROW,
        IMAGE_ROW,
        REPLACEMENT_ROW,
        SOURCE_ROW,
        TARGET_ROW,
        FIELD_OPTIONS_ROW,
        REPLICA_ROW,
        VARIABLE_ROW,
        VARIABLE_OBJECT_ROW,
        VARIABLE_FIELD_ROW,
        SORTING_ROW,
        ORDER_ROW,
        CONFIG_MAP_ROW,
        SECRET_ROW,
        GENERATOR_OPTIONS_ROW,
        HELM_GLOBALS_ROW,
        HELM_CHART_ROW,
        OLD_HELM_CHART_ROW,
    ],
);

/// The rows of a kind.
pub fn rows(kind: Kind) -> impl Iterator<Item = &'static Field> + Clone {
    SCHEMA.entity(kind).into_iter().flat_map(|entity| entity.groups.iter().flat_map(|group| group.iter()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_table_is_sound() {
        assert_eq!(purlin_model::guard(&super::SCHEMA), Vec::<String>::new());
    }
}
