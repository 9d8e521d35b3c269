//! Players and rigs that test the whole.
