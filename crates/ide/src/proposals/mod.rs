//! What can be written at a cursor.

pub(crate) mod complete;
pub(crate) mod expressions;
pub(crate) mod functions;
pub(crate) mod likely;
pub(crate) mod shapes;
pub(crate) mod tosca;
