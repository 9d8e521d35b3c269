//! Every unsafe line of the project.
