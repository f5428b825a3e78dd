//! The formats that Puccini's tools write.

use super::markup::{ExtendedJsonWriter, XmlWriter};
use super::packed::{PackedWriter, Packing};
use purlin_syntax::write::{Emit, JsonFlavor, JsonLayout, JsonWriter, WriteError, YamlWriter};
use purlin_value::encoding;

/// The name of a format.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Name {
    #[default]
    Yaml,
    Json,
    ExtendedJson,
    Xml,
    Packed(Packing),
}

/// A format and its layout.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Format {
    name: Name,
    /// Whether JSON and XML are one line.
    compact: bool,
    /// Whether CBOR and MessagePack are written as Base64.
    base64: bool,
}

impl Format {
    /// The format of a name; an empty one is YAML.
    pub(crate) fn named(name: &str) -> Result<Format, String> {
        let name = match name {
            "" | "yaml" => Name::Yaml,
            "json" | "cjson" => Name::Json,
            "xjson" => Name::ExtendedJson,
            "xml" => Name::Xml,
            "cbor" => Name::Packed(Packing::Cbor),
            "messagepack" => Name::Packed(Packing::MessagePack),
            other => {
                let known = "yaml, json, xjson, xml, cbor or messagepack";
                return Err(format!("unknown format `{other}`: expected {known}"));
            }
        };
        Ok(Format { name, ..Format::default() })
    }

    /// The same with another layout.
    pub(crate) fn laid_out(self, pretty: bool, base64: bool) -> Format {
        Format { compact: !pretty, base64, ..self }
    }

    /// A value in this format, with a line break at the end unless it is binary.
    pub(crate) fn write(self, drive: impl FnOnce(&mut dyn Emit)) -> Result<Vec<u8>, WriteError> {
        let layout = if self.compact { JsonLayout::Compact } else { JsonLayout::Pretty };
        let text = match self.name {
            Name::Yaml => {
                let mut writer = YamlWriter::with_limit(usize::MAX);
                drive(&mut writer);
                writer.finish()?
            }
            Name::Json => {
                let mut writer = JsonWriter::new(layout, JsonFlavor::Plain);
                drive(&mut writer);
                writer.finish()?
            }
            Name::ExtendedJson => {
                let mut writer = ExtendedJsonWriter::new(layout);
                drive(&mut writer);
                writer.finish().finish()?
            }
            Name::Xml => {
                let mut writer = XmlWriter::new(if self.compact { "" } else { "  " });
                drive(&mut writer);
                writer.finish()
            }
            Name::Packed(packing) => {
                let mut writer = PackedWriter::new(packing);
                drive(&mut writer);
                let bytes = writer.finish();
                if !self.base64 {
                    return Ok(bytes);
                }
                encoding::base64(&bytes)
            }
        };
        let end = if text.ends_with('\n') { "" } else { "\n" };
        Ok((text + end).into_bytes())
    }
}
