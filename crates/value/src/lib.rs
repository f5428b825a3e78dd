//! Values with origin and taint, laziness, scopes, merge rules and the World.
