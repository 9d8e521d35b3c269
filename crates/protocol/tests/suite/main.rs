//! The tests of the protocol from outside: one program, built once.

mod appl_ver_id;
mod conditions;
mod custom;
mod dictionary_forms;
mod dictionary_hostile;
mod dictionary_xml;
mod generated;
mod json;
mod random;
mod rules;
mod validate;
