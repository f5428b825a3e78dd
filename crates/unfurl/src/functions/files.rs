//! Files: read within the project, written to the world's overlay, encrypted where they must be.

use super::{Call, codecs, environment, random};
use crate::convert::{self, JsonStyle};
use crate::error::{Error, Kind, Result, type_error, value_error};
use crate::eval::Ctx;
use crate::external::{External, Kind as Handle};
use crate::jinja::shell_quote;
use crate::limits::MAX_FILE;
use crate::rules;
use crate::val::{Data, Val};
use crate::vault;
use crate::yaml_text::{self, YamlStyle};
use ecow::EcoString;
use purlin_syntax::{Diagnostic, Flavor};
use purlin_value::world::FileKind;
use purlin_value::{Origin, WorldError, path};

/// Folder of temporary files, within the ensemble's.
pub(crate) const TEMPORARY: &str = ".purlin/tmp";

/// The ensemble's folder.
pub fn base(ctx: &Ctx<'_, '_>) -> String {
    let dir = ctx.engine.tree.base_dir.as_str();
    let root = ctx.engine.session.world.root();
    if dir.is_empty() { root.to_owned() } else { path::join(root, dir) }
}

/// A path seen from the ensemble's folder.
pub fn absolute(ctx: &Ctx<'_, '_>, file: &str) -> String {
    path::join(&base(ctx), file)
}

/// A path seen from the file the expression is written in.
pub(crate) fn from_source(ctx: &Ctx<'_, '_>, file: &str) -> String {
    let dir = ctx.frame.dir.as_str();
    if dir.is_empty() { absolute(ctx, file) } else { path::join(&absolute(ctx, dir), file) }
}

/// The message for a file that the world refuses.
pub fn refused(error: &WorldError, file: &str) -> Box<Error> {
    match error {
        WorldError::Denied(hint) => {
            Error::new(Kind::Refused, format!("reading `{file}` is not allowed")).hint(hint.clone())
        }
        WorldError::NotFound => Error::new(Kind::Io, format!("`{file}` does not exist")),
        WorldError::WrongKind(what) => Error::new(Kind::Io, format!("`{file}` is {what}")),
        WorldError::TooMuch(why) => Error::new(Kind::Limit, why.clone()),
        WorldError::TooLarge(why) => Error::new(Kind::Limit, format!("`{file}` {why}")),
        WorldError::Failed(why) | WorldError::FetchFailed(why) | WorldError::LockMismatch(why) => {
            Error::new(Kind::Io, format!("`{file}`: {why}"))
        }
    }
}

/// The bytes of a file; none if it does not exist.
pub(crate) fn read_optional(ctx: &Ctx<'_, '_>, file: &str) -> Result<Option<Vec<u8>>> {
    let full = absolute(ctx, file);
    match ctx.engine.session.load_bytes(&full) {
        Ok(bytes) if bytes.len() > MAX_FILE => {
            Err(Error::new(Kind::Limit, format!("`{file}` has more than {MAX_FILE} bytes")))
        }
        Ok(bytes) => {
            ctx.engine.spend(bytes.len() / 64)?;
            if ctx.engine.is_secret_file(&full) {
                ctx.engine.saw_secret.set(true);
            }
            Ok(Some(bytes.to_vec()))
        }
        Err(WorldError::NotFound) => Ok(None),
        Err(error) => Err(refused(&error, file)),
    }
}

/// A path as messages show it: seen from the project.
fn shown<'p>(ctx: &Ctx<'_, '_>, file: &'p str) -> &'p str {
    let below = file.strip_prefix(ctx.engine.session.world.root()).and_then(|rest| rest.strip_prefix('/'));
    below.filter(|rest| !rest.is_empty()).unwrap_or(file)
}

/// The decoded content of a file.
pub fn contents(ctx: &Ctx<'_, '_>, file: &str, encoding: Option<&str>) -> Result<Val> {
    let shown = shown(ctx, file);
    let Some(mut bytes) = read_optional(ctx, file)? else {
        return Err(refused(&WorldError::NotFound, shown));
    };
    let mut secret = ctx.engine.is_secret_file(&absolute(ctx, file));
    if vault::is_vault(&bytes) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        bytes = match vault::decrypt(&text, &ctx.engine.settings.vault) {
            Ok(plain) => plain.to_vec(),
            Err(problem) => return value_error(format!("`{shown}`: {}", problem.message())),
        };
        secret = true;
    }
    let value = match encoding {
        None | Some("vault") => Val::bytes(&bytes),
        Some("binary") => Data::Bytes(bytes.into()).into(),
        Some("json") => convert::from_json(&text_of(&bytes, shown)?)?,
        Some("yaml") => {
            let mut documents = convert::from_yaml(ctx.engine.session, &text_of(&bytes, shown)?, Flavor::Core)?;
            if documents.is_empty() { Val::null() } else { documents.swap_remove(0) }
        }
        Some(codec) => match codecs::decode(&bytes, codec) {
            Ok(text) => Val::str(text),
            Err(why) => return value_error(why.message(codec).under(format!("could not read `{shown}`: "))),
        },
    };
    let value = value.taint_if(secret).from_origin(written_in(ctx, file));
    ctx.engine.note_read(&value);
    Ok(value)
}

/// The origin of a file's content.
fn written_in(ctx: &Ctx<'_, '_>, file: &str) -> Origin {
    let (session, full) = (ctx.engine.session, absolute(ctx, file));
    let Ok(text) = session.load_text(&full, &full) else { return Origin::NONE };
    session.origins.file(text.source.span(0, text.source.text().len()))
}

fn text_of(bytes: &[u8], file: &str) -> Result<String> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => value_error(format!("`{file}` is not text")),
    }
}

/// `file`
pub fn file(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let key = call.value(ctx)?.plain();
    let name = ctx.text(&key)?;
    let full = match call.named(ctx, "dir")? {
        Some(dir) => path::join(&absolute(ctx, &ctx.text(&dir)?), &name),
        None => absolute(ctx, &name),
    };
    let encoding = call.named(ctx, "encoding")?.map(|encoding| ctx.text(&encoding)).transpose()?;
    if let Some(contents) = call.named(ctx, "contents")? {
        let bytes = written(ctx, &full, &contents, encoding.as_deref())?;
        ctx.engine.session.world.write(&full, &bytes).map_err(|error| refused(&error, &full))?;
        if !ctx.engine.session.world.keeps_writes() {
            not_kept(ctx, &name, call.arg.origin);
        }
    }
    let tainted = key.is_tainted();
    let kind = Handle::File { path: full.into(), encoding };
    let value = Val::str(name);
    Ok(External { kind, key: value.clone(), value, select: Vec::new() }.into_val().taint_if(tainted))
}

/// `tempfile`
pub fn tempfile(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let contents = call.value(ctx)?;
    let suffix = call.named(ctx, "suffix")?.map(|suffix| ctx.text(&suffix)).transpose()?.unwrap_or_default();
    let encoding = call.named(ctx, "encoding")?.map(|encoding| ctx.text(&encoding)).transpose()?;
    let name = format!("{TEMPORARY}/{:016x}{suffix}", random::draw(ctx));
    let full = absolute(ctx, &name);
    let bytes = written(ctx, &full, &contents, encoding.as_deref())?;
    ctx.engine.session.world.write_temporary(&full, &bytes).map_err(|error| refused(&error, &full))?;
    // Content written with a data encoding is read back as text.
    let encoding = encoding.filter(|encoding| !matches!(encoding.as_str(), "json" | "yaml" | "env" | "vault"));
    let kind = Handle::Temp { path: full.clone().into(), encoding };
    Ok(External { kind, key: contents, value: Val::str(full), select: Vec::new() }.into_val())
}

/// Warns that a file is written for this run only.
fn not_kept(ctx: &Ctx<'_, '_>, name: &str, origin: purlin_value::Origin) {
    let session = ctx.engine.session;
    let mut diagnostic = Diagnostic::nowhere(&rules::NOT_WRITTEN, format!("`{name}` is not written to disk"));
    diagnostic.span = session.origins.span(origin, &session.sources);
    session.sink.push(diagnostic.hint("add `--allow-write` to write it; until then only this run sees it"));
}

/// The content to write for a value: by encoding, by the file's suffix, or by kind of value.
fn written(ctx: &Ctx<'_, '_>, full: &str, contents: &Val, encoding: Option<&str>) -> Result<Vec<u8>> {
    let contents = &contents.clone().plain();
    let plain_name = full.strip_suffix(".vault").unwrap_or(full);
    let how = match encoding {
        Some(encoding) if encoding != "vault" => encoding,
        _ => match plain_name.rsplit('.').next() {
            Some("json") => "json",
            Some("yaml" | "yml") => "yaml",
            Some("env") => "env",
            _ => "",
        },
    };
    let bytes = bytes_of(ctx, contents, how)?;
    let secret_folder = full.split('/').any(|part| part == "secrets");
    let encrypt = encoding == Some("vault") || full.ends_with(".vault") || secret_folder;
    let bytes = match (encrypt, ctx.engine.settings.vault.first()) {
        (true, Some(secret)) => vault::encrypt(&bytes, secret, random::salt(ctx, &bytes)).into_bytes(),
        (true, None) if secret_folder && encoding != Some("vault") => bytes,
        (true, None) => return value_error(vault::Problem::NoPassword.message()),
        (false, _) => bytes,
    };
    if bytes.len() > MAX_FILE {
        return Err(Error::new(Kind::Limit, format!("`{full}` would have more than {MAX_FILE} bytes")));
    }
    if contents.tainted_within() {
        ctx.engine.note_secret_file(full);
    }
    Ok(bytes)
}

fn bytes_of(ctx: &Ctx<'_, '_>, contents: &Val, how: &str) -> Result<Vec<u8>> {
    let tree = ctx.engine.tree;
    let pretty = JsonStyle { indent: Some(2), sorted: false, ascii: true };
    match (how, &contents.data) {
        ("", Data::Null) => Ok(Vec::new()),
        ("json", _) => convert::to_json(contents, tree, pretty).map(String::into_bytes),
        ("yaml", _) => {
            let style = YamlStyle { indent: 2, flow_leaves: false, sorted: false };
            yaml_text::to_yaml(contents, tree, style).map(String::into_bytes)
        }
        ("env", Data::Map(entries)) => {
            let mut lines = Vec::new();
            for (name, value) in entries.iter() {
                let text = ctx.text(value)?;
                let quoted = if text.starts_with('\'') {
                    shell_quote(&text)
                } else {
                    format!("'{}'", text.as_str().replace('\'', "'\"'\"'"))
                };
                lines.push(format!("{}={quoted}", convert::key_text(name)));
            }
            Ok(lines.join("\n").into_bytes())
        }
        (_, Data::Bytes(bytes)) => Ok(bytes.to_vec()),
        ("" | "binary", Data::Str(text)) => Ok(text.as_bytes().to_vec()),
        ("" | "binary", _) => convert::to_json(contents, tree, pretty).map(String::into_bytes),
        (codec, Data::Str(text)) => match codecs::encode(text, codec) {
            Ok(bytes) => Ok(bytes),
            Err(why) => value_error(why.message(codec).under("could not write the text: ")),
        },
        ("env", _) => type_error(format!("{} cannot be written with the encoding `env`", contents.kind())),
        (codec, _) => bytes_of(ctx, &Val::str(convert::to_json(contents, tree, pretty)?), codec),
    }
}

/// Whether a path passes a test.
pub fn is(ctx: &Ctx<'_, '_>, test: &str, file: &str) -> Result<bool> {
    let stat = ctx.engine.session.world.stat(&absolute(ctx, file));
    Ok(match (test, stat) {
        (_, Err(WorldError::Denied(hint))) => return Err(refused(&WorldError::Denied(hint), file)),
        (_, Err(_)) => false,
        ("exists" | "link_exists", Ok(_)) => true,
        ("file" | "is_file", Ok(stat)) => stat.kind == FileKind::File,
        ("directory" | "is_dir", Ok(stat)) => stat.kind == FileKind::Folder,
        (_, Ok(stat)) => stat.kind == FileKind::Link,
    })
}

/// Files of a folder whose name matches a pattern.
pub fn glob(ctx: &Ctx<'_, '_>, pattern: &str) -> Result<Vec<EcoString>> {
    let full = absolute(ctx, pattern);
    let folder = path::parent(&full);
    let name = path::file_name(&full);
    let entries = match ctx.engine.session.world.list(folder) {
        Ok(entries) => entries,
        Err(WorldError::NotFound | WorldError::WrongKind(_)) => return Ok(Vec::new()),
        Err(error) => return Err(refused(&error, pattern)),
    };
    let files = entries.into_iter().filter(|entry| entry.kind != FileKind::Folder);
    let matching = files.filter(|entry| environment::globbed(name, &entry.name));
    Ok(matching.map(|entry| path::join(folder, &entry.name).into()).collect())
}
