//! The tests of the protocol from outside: one program, built once.

mod appl_ver_id;
mod built_in_facts;
mod shapes;
mod validate;
