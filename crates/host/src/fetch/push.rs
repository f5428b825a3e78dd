//! Puts charts into OCI registries, and checks credentials. Knows the registry's requests, not the network.

use super::address::{Address, Allowed, RemoteAddress, parse};
use super::https::{Answer, Ask, Web, absolute, failed};
use super::internet::Internet;
use super::login::{Logins, authorization};
use super::registry::Repository;
use super::unpack::hash_bytes;
use purlin_syntax::write::JsonFlavor;
use purlin_syntax::write::json::quote;
use purlin_value::world::WorldError;
use std::cell::RefCell;
use std::time::Duration;

/// Time limit of a request.
const LONGEST: Duration = Duration::from_secs(60);

/// Largest answer of a registry.
const LARGEST_ANSWER: u64 = 4 << 20;

/// The media type of the manifest.
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// Something to put into a registry.
pub struct Artifact<'a> {
    /// `oci://HOST/PATH`
    pub address: &'a str,
    /// Its tag.
    pub tag: &'a str,
    /// Media type and content of its description.
    pub config: (&'a str, &'a [u8]),
    /// Media types and contents.
    pub layers: &'a [(&'a str, &'a [u8])],
    /// Annotations of its manifest.
    pub annotations: &'a [(String, String)],
}

/// Registries that the user allowed.
pub struct Registries {
    allowed: Allowed,
    web: Box<dyn Web + Send + Sync>,
    logins: Logins,
    /// The header that the present registry accepts.
    proof: RefCell<Option<String>>,
}

impl Registries {
    /// Registries of these hosts.
    pub fn new(hosts: &[String], logins: Logins) -> Self {
        let allowed = Allowed::new(hosts);
        let web = Box::new(Internet::new(allowed.clone()));
        Registries { allowed, web, logins, proof: RefCell::default() }
    }

    /// Checks that a registry accepts the user's credentials.
    ///
    /// # Errors
    /// If it cannot be reached, or does not.
    pub fn check(&self, host: &str) -> Result<(), WorldError> {
        let page = format!("{}://{host}/v2/", self.allowed.scheme_of(host));
        let answer = self.ask("GET", &page, None, &[], host, "")?;
        match answer.status {
            200 => Ok(()),
            status => Err(unexpected(status)),
        }
    }

    /// Puts an artifact into a registry; returns the digest of its manifest.
    ///
    /// # Errors
    /// If the registry cannot be reached, or refuses it.
    pub fn put(&self, artifact: &Artifact<'_>) -> Result<String, WorldError> {
        let repository = Repository::of(artifact.address)?;
        let base =
            format!("{}://{}/v2/{}", self.allowed.scheme_of(repository.place), repository.place, repository.path);
        let described = |(kind, bytes): &(&str, &[u8])| {
            format!("{{\"mediaType\":\"{kind}\",\"digest\":\"{}\",\"size\":{}}}", hash_bytes(bytes), bytes.len())
        };
        for (_, bytes) in std::iter::once(&artifact.config).chain(artifact.layers) {
            self.put_blob(&base, &repository, bytes)?;
        }
        let layers: Vec<String> = artifact.layers.iter().map(described).collect();
        let annotation = |(name, value): &(String, String)| {
            format!("{}:{}", quote(name, JsonFlavor::Plain), quote(value, JsonFlavor::Plain))
        };
        let annotations: Vec<String> = artifact.annotations.iter().map(annotation).collect();
        let manifest = format!(
            "{{\"schemaVersion\":2,\"mediaType\":\"{MANIFEST}\",\"config\":{},\"layers\":[{}],\"annotations\":{{{}}}}}",
            described(&artifact.config),
            layers.join(","),
            annotations.join(",")
        );
        let page = format!("{base}/manifests/{}", artifact.tag);
        let kind = [("content-type", MANIFEST.to_owned())];
        let answer = self.ask("PUT", &page, Some(manifest.as_bytes()), &kind, repository.place, repository.path)?;
        match answer.status {
            200..=299 => Ok(hash_bytes(manifest.as_bytes())),
            status => Err(unexpected(status)),
        }
    }

    fn put_blob(&self, base: &str, repository: &Repository<'_>, bytes: &[u8]) -> Result<(), WorldError> {
        let (place, path) = (repository.place, repository.path);
        let digest = hash_bytes(bytes);
        let known = self.ask("HEAD", &format!("{base}/blobs/{digest}"), None, &[], place, path)?;
        if known.status == 200 {
            return Ok(());
        }
        let start = format!("{base}/blobs/uploads/");
        let begun = self.ask("POST", &start, Some(b""), &[], place, path)?;
        let location = match (begun.status, begun.location) {
            (202, Some(location)) => absolute(&start, &location),
            (status, _) => return Err(unexpected(status)),
        };
        let joint = if location.contains('?') { '&' } else { '?' };
        let kind = [("content-type", "application/octet-stream".to_owned())];
        let target = format!("{location}{joint}digest={digest}");
        match self.ask("PUT", &target, Some(bytes), &kind, place, path)?.status {
            201 | 204 => Ok(()),
            status => Err(unexpected(status)),
        }
    }

    /// A request, with credentials once the registry asks for them. They are sent to its own host only.
    fn ask(
        &self,
        method: &'static str,
        page: &str,
        body: Option<&[u8]>,
        more: &[(&str, String)],
        place: &str,
        path: &str,
    ) -> Result<Answer, WorldError> {
        let Address::Remote(address) = parse(page)? else { return Err(failed("it is not the address of a registry")) };
        self.allowed.check(&address)?;
        let is_own = is_at(&address, place, &self.allowed)?;
        let send = |proof: Option<String>| {
            let mut headers = more.to_vec();
            headers.extend(proof.filter(|_| is_own).map(|proof| ("authorization", proof)));
            let ask = Ask { method, address: &address.full, headers: &headers, body };
            self.web.send(ask, LARGEST_ANSWER, LONGEST)
        };
        let known = self.proof.borrow().clone();
        let answer = send(known)?;
        let Some(challenge) = answer.challenge.as_deref().filter(|_| answer.status == 401 && is_own) else {
            return Ok(answer);
        };
        let scope = if path.is_empty() { String::new() } else { format!("repository:{path}:pull,push") };
        let get = |address: &RemoteAddress, headers: &[(&str, String)]| {
            self.allowed.check(address)?;
            let ask = Ask { method: "GET", address: &address.full, headers, body: None };
            self.web.send(ask, LARGEST_ANSWER, LONGEST)
        };
        let proof = authorization(challenge, &scope, self.logins.of(place), &get)?;
        *self.proof.borrow_mut() = Some(proof.clone());
        send(Some(proof))
    }
}

/// Whether an address is one of a registry's own.
fn is_at(address: &RemoteAddress, place: &str, allowed: &Allowed) -> Result<bool, WorldError> {
    let own = parse(&format!("{}://{place}/", allowed.scheme_of(place)))?;
    Ok(matches!(own, Address::Remote(own) if (&own.host, own.port) == (&address.host, address.port)))
}

fn unexpected(status: u16) -> WorldError {
    match status {
        401 | 403 => failed("the registry does not accept the credentials; `helm registry login HOST` stores others"),
        404 => failed("the registry does not have it"),
        status => failed(format!("the registry answered with status {status}")),
    }
}
