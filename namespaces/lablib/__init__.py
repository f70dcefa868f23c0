"""The lab: a small internet in network namespaces, and the tools the tests and the demo share."""
