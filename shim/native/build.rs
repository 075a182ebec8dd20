//! Tells the linker that node provides its own symbols.

fn main() {
    napi_build::setup();
}
