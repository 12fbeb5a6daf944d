//! Runs one short script of a model, in a process that can do nothing but compute and ask the hub for tool calls.
