//! Files, spans, the YAML tree, YAML and JSON writers, diagnostics and limits.
