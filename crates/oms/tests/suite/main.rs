//! The OMS as clients and venues see it: in a world of its own, where its process dies at every operation of its disk
//! and network; beside a slow model with the same inputs; with venue reports in every order; in scenarios.

mod archive;
mod canaries;
mod classes;
mod crashes;
mod currencies;
mod days;
mod decimals;
mod desk;
mod drop_copy;
mod fields;
mod fill_classes;
mod floor;
mod inquiries;
mod markets;
mod model;
mod names;
mod permutations;
mod proof;
mod questions;
mod rates;
mod recovery;
mod reduce;
mod reload;
mod replaced_status;
mod reports;
mod rights;
mod routes;
mod scenarios;
mod spreads;
mod texts;
mod ticks;
mod trial;
mod twin;
mod walked;
mod word;
