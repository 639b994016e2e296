//! The tensor blob.
