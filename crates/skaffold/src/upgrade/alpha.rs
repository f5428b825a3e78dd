//! Rules for the alpha editions of version 1.

use super::{Step, each_artifact, each_release};
use crate::item::{Data, Item, View};

/// `v1alpha1`: tag policies were words, and docker's settings were keys of the artifact.
pub fn sections(pipeline: &mut Item<'_>, _: &mut Step<'_>) {
    if let Some(build) = pipeline.get_mut("build")
        && let Some(policy) = build.view().get("tagPolicy").map(View::eco)
    {
        let value = if policy.is_empty() { Data::Null.into() } else { Item::single(&policy, Item::empty_map()) };
        build.set("tagPolicy", value);
    }
    each_artifact(pipeline, &mut |artifact| {
        let mut docker = Item::empty_map();
        for key in ["dockerfilePath", "buildArgs"] {
            if let Some(value) = artifact.take(key) {
                docker.set(key, value);
            }
        }
        if docker.view().entries().next().is_some() {
            artifact.set("docker", docker);
        }
    });
    if let Some(deploy) = pipeline.get_mut("deploy") {
        deploy.take("name");
        if let Some(kubectl) = deploy.get_mut("kubectl")
            && let Some(manifests) = kubectl.take("manifests")
        {
            let paths = manifests.view().items().filter_map(|entry| entry.get("paths"));
            let flat = paths.flat_map(View::items).map(View::to_item).collect();
            kubectl.set("manifests", Data::list(flat).into());
        }
    }
}

/// `v1alpha2`: the bucket became a kind of build context.
pub fn kaniko_bucket(pipeline: &mut Item<'_>, _: &mut Step<'_>) {
    if let Some(kaniko) = pipeline.get_mut("build").and_then(|build| build.get_mut("kaniko"))
        && let Some(bucket) = kaniko.take("gcsBucket")
    {
        kaniko.set("buildContext", Item::single("gcsBucket", bucket));
    }
}

/// `v1alpha2`: one file of values became a list.
pub fn values_files(pipeline: &mut Item<'_>, _: &mut Step<'_>) {
    each_release(pipeline, &mut |release| {
        if let Some(file) = release.take("valuesFilePath") {
            release.set("valuesFiles", Data::list(vec![file]).into());
        }
    });
}

/// `v1alpha3`: shorter names, and `skipPush` turned around.
pub fn names(pipeline: &mut Item<'_>, _: &mut Step<'_>) {
    if let Some(local) = pipeline.get_mut("build").and_then(|build| build.get_mut("local"))
        && let Some(skip) = local.take("skipPush").and_then(|skip| skip.view().bool())
    {
        local.set("push", Data::Bool(!skip).into());
    }
    each_artifact(pipeline, &mut |artifact| {
        artifact.rename("imageName", "image");
        artifact.rename("workspace", "context");
        if let Some(docker) = artifact.get_mut("docker") {
            docker.rename("dockerfilePath", "dockerfile");
        }
    });
    if let Some(kustomize) = pipeline.get_mut("deploy").and_then(|deploy| deploy.get_mut("kustomize")) {
        kustomize.rename("kustomizePath", "path");
    }
}

/// `v1alpha5`: builds with Azure were removed.
pub fn azure(pipeline: &mut Item<'_>, step: &mut Step<'_>) {
    let Some(azure) = pipeline.view().at(&["build", "acr"]) else { return };
    let message = match &step.profile {
        Some(profile) => format!("`build.acr` of profile `{profile}` is not supported any more"),
        None => "`build.acr` is not supported any more".to_owned(),
    };
    step.fail(azure, &message, "remove it by hand");
}
