//! The published packages of pi: releases and digests, fetching, finding, parsing, patterns by era.
