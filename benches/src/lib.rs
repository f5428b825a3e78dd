//! Generates large inputs and measures.
