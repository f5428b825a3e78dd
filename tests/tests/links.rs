//! Cases that need links on disk, which pages of the suite cannot contain.

#![cfg(unix)]
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use purlin_suite::{Scratch, environment, run};
use std::fs::{create_dir_all, write};
use std::os::unix::fs::symlink;

/// Kustomize reads no file outside the folder of a kustomization, wherever the link to it is; within the folder links
/// are followed, and the folder itself may be a link.
#[test]
fn files_of_kustomizations_are_where_links_lead() {
    let scratch = Scratch::new("links").unwrap();
    let top = scratch.path();
    for folder in [".git", "app", "shared/more"] {
        create_dir_all(top.join(folder)).unwrap();
    }
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    for file in ["app/own.yaml", "shared/a.yaml", "shared/more/b.yaml"] {
        write(top.join(file), object).unwrap();
    }
    symlink("own.yaml", top.join("app/inside.yaml")).unwrap();
    symlink("../shared/a.yaml", top.join("app/out.yaml")).unwrap();
    symlink("../shared/more", top.join("app/folder")).unwrap();
    symlink(top.join("shared/a.yaml"), top.join("app/absolute.yaml")).unwrap();
    symlink("loop.yaml", top.join("app/loop.yaml")).unwrap();
    symlink("app", top.join("link")).unwrap();
    let check = |resource: &str, path: &str| {
        write(top.join("app/kustomization.yaml"), format!("resources: [{resource}]\n")).unwrap();
        run(&["check".to_owned(), path.to_owned()], top, &environment(""))
    };
    for path in ["app", "link"] {
        let ran = check("inside.yaml", path);
        assert_eq!(ran.code, 0, "{path}: {}", ran.stderr);
        for (resource, target) in
            [("out.yaml", "shared/a.yaml"), ("folder/b.yaml", "shared/more/b.yaml"), ("absolute.yaml", "shared/a.yaml")]
        {
            let ran = check(resource, path);
            let expected = format!("error[kustomization]: `{resource}` is a link to `{target}`, which is not below");
            assert!(ran.code == 1 && ran.stderr.contains(&expected), "{path} {resource}: {}", ran.stderr);
        }
        assert_ne!(check("loop.yaml", path).code, 0);
    }
}
