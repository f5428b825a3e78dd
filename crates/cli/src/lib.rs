//! Arguments, the disk World, printing.
