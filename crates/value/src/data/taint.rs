//! Whether a value must not be shown.
//!
//! Every run-time value type keeps one of these in a private field, and takes it in the constructor that conversions
//! use: a conversion that forgets it does not compile. It cannot be removed again.

use std::ops::{BitOr, BitOrAssign};

/// Whether a value is a secret, or made from one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Taint(bool);

impl Taint {
    /// Not a secret.
    pub const NONE: Taint = Taint(false);
    /// A secret.
    pub const SECRET: Taint = Taint(true);

    /// A secret, if the argument is true.
    pub const fn secret_if(secret: bool) -> Self {
        Taint(secret)
    }

    /// Whether it is a secret.
    pub const fn is_secret(self) -> bool {
        self.0
    }
}

/// A value made from two values is a secret if one of them is.
impl BitOr for Taint {
    type Output = Taint;
    fn bitor(self, other: Taint) -> Taint {
        Taint(self.0 | other.0)
    }
}

impl BitOrAssign for Taint {
    fn bitor_assign(&mut self, other: Taint) {
        *self = *self | other;
    }
}

/// A value made from several values is a secret if one of them is.
impl FromIterator<Taint> for Taint {
    fn from_iter<I: IntoIterator<Item = Taint>>(taints: I) -> Self {
        taints.into_iter().fold(Taint::NONE, BitOr::bitor)
    }
}
