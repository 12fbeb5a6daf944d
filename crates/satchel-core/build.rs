//! Compiles the settings of glibc's allocator, which has no interface for safe Rust. Other C libraries have no such settings.

fn main() {
    println!("cargo::rerun-if-changed=src/allocator.c");
    let target = |key: &str| std::env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        cc::Build::new()
            .file("src/allocator.c")
            .link_lib_modifier("+whole-archive")
            .compile("satchel_allocator");
    }
}
