//! The bundled servers as products that requests name. Reads no registry, so that every search may ask. Pure.

use super::mentioned::Mentioned;
use crate::{model::listing::Listed, registry};

/// Servers named after what they do: a request for a calculator accepts any server that calculates.
const GENERIC: &[&str] = &[
    "calculator",
    "charts",
    "everything",
    "fetch",
    "filesystem",
    "memory",
    "mobile",
    "sequential-thinking",
    "time",
];

/// The bundled servers, and how requests name them.
#[derive(Debug)]
pub struct Products {
    all: Vec<Product>,
    mentioned: Mentioned,
}

/// A bundled server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    /// Its name in the catalog.
    pub id: String,
    /// What it runs or connects to, without its version.
    pub package: Option<String>,
    /// Any server that does the same is as good.
    pub generic: bool,
}

impl Products {
    /// Reads the bundled list, which takes some milliseconds.
    pub fn read() -> Self {
        let mut bundled = registry::find("").entries;
        bundled.retain(|one| !super::shelf::is_built_in(one));
        Self::of(&bundled)
    }

    fn of(bundled: &[Listed]) -> Self {
        let product = |one: &Listed| Product {
            id: one.id.clone(),
            package: super::shelf::bundled_package(one),
            generic: GENERIC.contains(&one.id.as_str()),
        };
        Self { all: bundled.iter().map(product).collect(), mentioned: Mentioned::of(bundled) }
    }

    /// What this request names, the most likely one first, each with the names it may go by.
    pub fn named(&self, request: &str) -> Vec<(&Product, Vec<String>)> {
        let mentions = self.mentioned.find(request).into_iter();
        mentions.map(|mention| (&self.all[mention.entry], mention.names)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generic_name_belongs_to_a_bundled_server() {
        let generic = Products::read().all.into_iter().filter(|product| product.generic).count();
        assert_eq!(generic, GENERIC.len());
    }

    #[test]
    fn a_product_is_known_by_what_it_runs_or_by_its_address() {
        let products = Products::read();
        let package = |request: &str| products.named(request)[0].0.package.clone().unwrap_or_default();
        assert_eq!(package("list the bases in Airtable"), "airtable-mcp-server");
        assert_eq!(package("create an issue in Linear"), "https://mcp.linear.app/mcp");
        assert_eq!(products.named("tell me a joke"), []);
    }
}
