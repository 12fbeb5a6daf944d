//! Where servers come from: documents of the MCP registry, and bundles. What is described here is shown before it is
//! run for the first time; nothing here runs anything.

pub mod bundle;
pub mod manifest;
pub mod plan;
pub mod server_json;
