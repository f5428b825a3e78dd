//! A task graph and its solver, generic over the key.
