//! The HTTP server of the node.
