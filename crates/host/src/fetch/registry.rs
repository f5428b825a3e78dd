//! Charts in OCI registries: their versions, and their archives. Knows the registry's requests, not the network.

use super::Fetcher;
use super::address::{Address, RemoteAddress, parse};
use super::https::{Answer, absolute, ask, failed};
use super::login::authorization;
use super::unpack::hash_bytes;
use purlin_charts::json;
use purlin_value::world::{Fetched, WorldError};
use purlin_value::{Origin, Value};

/// The media type of a chart archive.
const CHART_LAYER: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

/// Supported media types of manifests.
const MANIFESTS: &str = "application/vnd.oci.image.manifest.v1+json";

/// Maximum number of pages of a tag list.
const MOST_PAGES: usize = 100;

/// A repository of a registry.
pub(super) struct Repository<'a> {
    /// `HOST[:PORT]`
    pub(super) place: &'a str,
    pub(super) path: &'a str,
}

impl<'a> Repository<'a> {
    pub(super) fn of(address: &'a str) -> Result<Self, WorldError> {
        let rest = address.strip_prefix("oci://").unwrap_or(address);
        let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
        let is_tame = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
        if path.is_empty() || !path.chars().all(is_tame) || path.split('/').any(|part| matches!(part, "" | "." | ".."))
        {
            return Err(failed(format!("`{address}` is not the address of a chart in a registry")));
        }
        Ok(Repository { place, path })
    }
}

impl Fetcher {
    /// The versions of a chart in a registry, one per line.
    pub(super) fn versions(&self, address: &str) -> Result<Fetched, WorldError> {
        let repository = Repository::of(address)?;
        let first = self.registry_address(&repository, "tags/list?n=1000")?;
        self.kept(&named(&first, &repository, "?tags"), &|| {
            let mut tags = Vec::new();
            let mut next = Some(first.full.clone());
            for _ in 0..MOST_PAGES {
                let Some(page) = next else { break };
                let answer = self.ask_registry(&repository, &page, "application/json")?;
                let list = parsed(&answer.body)?;
                let names = list.get("tags").and_then(Value::as_list).unwrap_or_default();
                tags.extend(names.iter().filter_map(Value::as_str).map(|tag| tag.replace('_', "+")));
                next = answer.next.as_deref().and_then(next_page).map(|link| absolute(&page, link));
            }
            Ok(tags.join("\n").into_bytes())
        })
    }

    /// The archive of a chart, checked against the digest in its manifest.
    pub(super) fn chart(&self, address: &str, version: &str) -> Result<Fetched, WorldError> {
        let repository = Repository::of(address)?;
        let tag = version.replace('+', "_");
        if !tag.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)) {
            return Err(failed(format!("`{version}` is not a version")));
        }
        let description = self.registry_address(&repository, &format!("manifests/{tag}"))?;
        self.kept(&named(&description, &repository, &format!(":{tag}")), &|| {
            let manifest = parsed(&self.ask_registry(&repository, &description.full, MANIFESTS)?.body)?;
            let layers = manifest.get("layers").and_then(Value::as_list).unwrap_or_default();
            let is_chart = |layer: &&Value| layer.get("mediaType").and_then(Value::as_str) == Some(CHART_LAYER);
            let layer = layers.iter().find(is_chart).ok_or_else(|| failed("it is not a chart"))?;
            let digest = layer.get("digest").and_then(Value::as_str).unwrap_or_default().to_owned();
            let is_digest =
                digest.strip_prefix("sha256:").is_some_and(|hex| hex.chars().all(|c| c.is_ascii_hexdigit()));
            if !is_digest {
                return Err(failed("its digest is not a sha256"));
            }
            let blob = self.registry_address(&repository, &format!("blobs/{digest}"))?;
            let bytes = self.ask_registry(&repository, &blob.full, "*/*")?.body;
            match hash_bytes(&bytes) == digest {
                true => Ok(bytes),
                false => Err(failed(format!("its content does not have the digest {digest}"))),
            }
        })
    }

    fn registry_address(&self, repository: &Repository<'_>, rest: &str) -> Result<RemoteAddress, WorldError> {
        let Repository { place, path } = repository;
        let scheme = self.allowed.scheme_of(place);
        match parse(&format!("{scheme}://{place}/v2/{path}/{rest}"))? {
            Address::Remote(remote) => Ok(remote),
            Address::Local(_) => Err(failed("it is not the address of a registry")),
        }
    }

    /// Requests a page of a registry, with the user's credentials if it asks for some and there are any.
    fn ask_registry(&self, repository: &Repository<'_>, page: &str, accept: &str) -> Result<Answer, WorldError> {
        let Address::Remote(address) = parse(page)? else { return Err(failed("it is not the address of a registry")) };
        let mut headers = vec![("accept", accept.to_owned())];
        let mut answer = ask(&*self.web, &self.allowed, &address, &headers, self.max_file)?;
        if answer.status == 401
            && let Some(challenge) = answer.challenge.as_deref()
        {
            let scope = format!("repository:{}:pull", repository.path);
            let get = |address: &RemoteAddress, headers: &[(&str, String)]| {
                ask(&*self.web, &self.allowed, address, headers, self.max_file)
            };
            let proof = authorization(challenge, &scope, self.logins.of(repository.place), &get)?;
            headers.push(("authorization", proof));
            answer = ask(&*self.web, &self.allowed, &address, &headers, self.max_file)?;
        }
        match answer.status {
            200 => Ok(answer),
            401 | 403 => Err(failed("the registry wants credentials; `purlin helm registry login HOST` stores them")),
            404 => Err(failed("the registry does not have it")),
            status => Err(failed(format!("the registry answered with status {status}"))),
        }
    }
}

/// The address that identifies a copy, whatever protocol the registry uses.
fn named(asked: &RemoteAddress, repository: &Repository<'_>, rest: &str) -> RemoteAddress {
    let name = format!("oci://{}/{}{rest}", repository.place, repository.path);
    RemoteAddress { full: name.clone(), shown: name, ..asked.clone() }
}

fn parsed(body: &[u8]) -> Result<Value, WorldError> {
    json::parse(body, Origin::NONE).map_err(|error| failed(format!("the registry's answer is not JSON: {error}")))
}

/// The address of the next page in a `Link` header.
fn next_page(link: &str) -> Option<&str> {
    let (address, rest) = link.split_once('<')?.1.split_once('>')?;
    rest.contains("rel=\"next\"").then_some(address)
}
