//! The OMS as clients and venues see it: in a world of its own, where its process dies at every operation of its disk
//! and network; beside a slow model that hears the same; in every order of what venues report; in scenarios.

mod canaries;
mod crashes;
mod desk;
mod floor;
mod model;
mod permutations;
mod rates;
mod reports;
mod rights;
mod scenarios;
mod twin;
