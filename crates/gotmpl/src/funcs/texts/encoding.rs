//! Encodings and digests.

use purlin_value::encoding;
use sha2::Digest;

use crate::func::{Func, Ty};
use crate::funcs::{bytes, row};
use crate::value::Val;

const S: Ty = Ty::Str;

/// The rows.
pub(crate) static FUNCS: &[Func] = &[
    row("b64enc", &[S], "`b64enc TEXT`: in base 64.", |_, args| Ok(Val::str(encoding::base64(bytes(args, 0))))),
    row("b64dec", &[S], "`b64dec TEXT`: read from base 64; a problem is the result's text.", |_, args| {
        Ok(encoding::from_base64(bytes(args, 0)).map_or_else(Val::str, Val::str))
    }),
    row("b32enc", &[S], "`b32enc TEXT`: in base 32.", |_, args| Ok(Val::str(encoding::base32(bytes(args, 0))))),
    row("b32dec", &[S], "`b32dec TEXT`: read from base 32; a problem is the result's text.", |_, args| {
        Ok(encoding::from_base32(bytes(args, 0)).map_or_else(Val::str, Val::str))
    }),
    row("sha1sum", &[S], "`sha1sum TEXT`: the SHA-1 digest.", |_, args| {
        Ok(Val::str(encoding::hex(&sha1::Sha1::digest(bytes(args, 0)))))
    })
    .digests(),
    row("sha256sum", &[S], "`sha256sum TEXT`: the SHA-256 digest.", |_, args| {
        Ok(Val::str(encoding::hex(&sha2::Sha256::digest(bytes(args, 0)))))
    })
    .digests(),
    row("sha512sum", &[S], "`sha512sum TEXT`: the SHA-512 digest.", |_, args| {
        Ok(Val::str(encoding::hex(&sha2::Sha512::digest(bytes(args, 0)))))
    })
    .digests(),
    row("adler32sum", &[S], "`adler32sum TEXT`: the Adler-32 checksum.", |_, args| {
        let (mut a, mut b) = (1u32, 0u32);
        for byte in bytes(args, 0) {
            a = (a + u32::from(*byte)) % 65_521;
            b = (b + a) % 65_521;
        }
        Ok(Val::str((b << 16 | a).to_string()))
    })
    .digests(),
];
