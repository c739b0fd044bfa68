//! Blocks from outside: what goes in, what comes out, and that every parameter of it acts. Tests of the system actors stand in the folders of
//! `core/system/src`.

mod actors;
mod auction;
mod bids;
mod blobs;
mod blocks;
mod burdens;
mod drills;
mod examples;
mod formats;
mod lanes;
mod messages;
mod methods;
mod mutations;
mod packing;
mod properties;
mod python;
mod queries;
mod randomness;
mod refusals;
mod seams;
mod signatures;
mod timer_rent;
mod timers;
mod transfers;
mod trees;
mod unpaid;
mod vectors;

cowboy_testkit::suite! {
    "core/chain/tests":
    actors,
    auction,
    bids,
    blobs,
    blocks,
    lanes,
    messages,
    packing,
    python,
    queries,
    randomness,
    refusals,
    seams,
    signatures,
    timers,
    transfers,
    unpaid,
}
