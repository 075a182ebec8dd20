//! The 503 text: what makes a pi that decides by words retry a failure.

use crate::reference::failure::{REWRITE_PREFIX, is_rewritten};
use std::borrow::Cow;

/// Puts the 503 prefix before an error text, once. The original is the suffix, byte for byte.
pub fn rewrite(text: &str) -> Cow<'_, str> {
    if is_rewritten(text) { Cow::Borrowed(text) } else { Cow::Owned(format!("{REWRITE_PREFIX}{text}")) }
}

/// The text as it was before it was rewritten, however often that was done.
pub fn unrewritten(mut text: &str) -> &str {
    while let Some(original) = text.strip_prefix(REWRITE_PREFIX) {
        text = original;
    }
    text
}
