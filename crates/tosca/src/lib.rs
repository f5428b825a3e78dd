//! The TOSCA dialect.
