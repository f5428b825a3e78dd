//! The Go template language with Sprig and Helm functions.
