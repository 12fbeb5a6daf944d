//! Compiles the C of this crate, for Linux with glibc: glibc's allocator has no interface for safe Rust, and other C libraries
//! have no such settings.

fn main() {
    println!("cargo::rerun-if-changed=src/memory.c");
    let target = |key: &str| std::env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        // Whole, because nothing in Rust names what runs before the program begins.
        cc::Build::new().file("src/memory.c").link_lib_modifier("+whole-archive").compile("satchel_memory");
    }
}
