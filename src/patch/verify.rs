//! Runs a patched classifier in node and compares it with the reference.
