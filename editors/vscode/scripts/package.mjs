// Packs the extension: a `.vsix` is a zip archive with a manifest. The same files give the same bytes.

import { readFileSync, writeFileSync } from "node:fs";
import { crc32, deflateRawSync } from "node:zlib";

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
// `--target linux-x64 --binary FILE` brings the program along, for one platform.
const option = (name) => process.argv[process.argv.indexOf(name) + 1] ?? "";
const target = process.argv.includes("--target") ? option("--target") : "";
const binary = process.argv.includes("--binary") ? option("--binary") : "";
if ((target === "") !== (binary === "")) {
  throw new Error("--target and --binary go together");
}
const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

const vsixManifest = `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${manifest.name}" Version="${manifest.version}" Publisher="${manifest.publisher}"${target && ` TargetPlatform="${escape(target)}"`}/>
    <DisplayName>${escape(manifest.displayName)}</DisplayName>
    <Description xml:space="preserve">${escape(manifest.description)}</Description>
    <License>extension/LICENSE-MIT.txt</License>
    <Icon>extension/icon.png</Icon>
    <Categories>${manifest.categories.join(",")}</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="${escape(manifest.engines.vscode)}"/>
    </Properties>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE-MIT.txt" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Icons.Default" Path="extension/icon.png" Addressable="true"/>
  </Assets>
</PackageManifest>
`;

const contentTypes = `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension="json" ContentType="application/json"/>
  <Default Extension="js" ContentType="application/javascript"/>
  <Default Extension="md" ContentType="text/markdown"/>
  <Default Extension="png" ContentType="image/png"/>
  <Default Extension="txt" ContentType="text/plain"/>
  <Default Extension="vsixmanifest" ContentType="text/xml"/>
</Types>
`;

const files = [
  ["extension.vsixmanifest", Buffer.from(vsixManifest)],
  ["[Content_Types].xml", Buffer.from(contentTypes)],
  ...["package.json", "README.md", "icon.png", "dist/extension.js"].map((name) => [`extension/${name}`, readFileSync(name)]),
  ...(binary ? [[`extension/bin/purlin${target.startsWith("win32") ? ".exe" : ""}`, readFileSync(binary)]] : []),
  ...["LICENSE-MIT", "LICENSE-APACHE"].map((name) => [`extension/${name}.txt`, readFileSync(`../../${name}`)]),
];

// 1 January 1980, the first day that zip archives know.
const DATE = 0x21;

function header(signature, name, data, packed, extra) {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(0x800, 2);
  fields.writeUInt16LE(8, 4);
  fields.writeUInt16LE(0, 6);
  fields.writeUInt16LE(DATE, 8);
  fields.writeUInt32LE(crc32(data), 10);
  fields.writeUInt32LE(packed.length, 14);
  fields.writeUInt32LE(data.length, 18);
  fields.writeUInt16LE(name.length, 22);
  return Buffer.concat([signature, extra, fields]);
}

const parts = [];
const directory = [];
let offset = 0;
for (const [path, data] of files) {
  const name = Buffer.from(path);
  const packed = deflateRawSync(data, { level: 9 });
  const local = Buffer.concat([header(Buffer.from("PK\x03\x04", "latin1"), name, data, packed, Buffer.alloc(0)), name, packed]);
  const tail = Buffer.alloc(14);
  tail.writeUInt32LE(offset, 10);
  directory.push(header(Buffer.from("PK\x01\x02", "latin1"), name, data, packed, Buffer.from([20, 0])), tail, name);
  parts.push(local);
  offset += local.length;
}
const index = Buffer.concat(directory);
const end = Buffer.alloc(22);
end.write("PK\x05\x06", 0, "latin1");
end.writeUInt16LE(files.length, 8);
end.writeUInt16LE(files.length, 10);
end.writeUInt32LE(index.length, 12);
end.writeUInt32LE(offset, 16);
const packed = `${manifest.name}-${manifest.version}${target && `-${target}`}.vsix`;
writeFileSync(packed, Buffer.concat([...parts, index, end]));
console.log(packed);
