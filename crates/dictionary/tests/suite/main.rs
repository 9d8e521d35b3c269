//! The tests of dictionary files and JSON through the public interface: one program, built once.

mod conditions;
mod custom;
mod forms;
mod generated;
mod hostile;
mod json;
mod quickfix;
mod rules;
