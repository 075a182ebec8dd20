//! The decision and nothing else, in the order of a failure's way: what is known of it ([`failure`], [`pis_words`], [`body`], [`number`]), what it
//! is compared with ([`matcher`], [`needles`], [`scan`], [`rules`]), the order of decision ([`classify`]), its answer
//! ([`verdict`]), and what is done about it ([`rewrite`], [`repair`]). [`shim_data`] is the same for the extension.

pub(crate) mod body;
pub(crate) mod classify;
pub(crate) mod failure;
pub(crate) mod matcher;
pub(crate) mod needles;
pub(crate) mod number;
pub(crate) mod pis_words;
pub(crate) mod repair;
pub(crate) mod rewrite;
pub mod rules;
pub(crate) mod scan;
pub(crate) mod shim_data;
pub(crate) mod surrogates;
pub(crate) mod verdict;
