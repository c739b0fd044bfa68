//! The numbers of the system actors (003 §9). `Address::system(actors::TREASURY)` is the address of one.

/// Keeps what belongs to the protocol and to no actor.
pub const PROTOCOL: u8 = 0x00;
/// Runner Registry.
pub const RUNNERS: u8 = 0x01;
/// Job Dispatcher.
pub const DISPATCHER: u8 = 0x02;
/// Result Verifier.
pub const VERIFIER: u8 = 0x03;
/// Secrets Manager; reserved.
pub const SECRETS: u8 = 0x04;
/// TEE Verifier.
pub const TEE: u8 = 0x05;
/// Basefee actor: fees, timers, tokens.
pub const BASEFEE: u8 = 0x06;
/// Entitlement Registry.
pub const ENTITLEMENTS: u8 = 0x07;
/// Treasury.
pub const TREASURY: u8 = 0x08;
/// Governance: what it decides comes from here.
pub const GOVERNANCE: u8 = 0x09;
/// Storage Manager.
pub const STORAGE: u8 = 0x0A;
/// Relay Registry; reserved.
pub const RELAYS: u8 = 0x0B;
/// Session Actor; reserved.
pub const SESSIONS: u8 = 0x0C;
/// Stream Key Manager; reserved.
pub const STREAMS: u8 = 0x0D;
/// Registry of names.
pub const NAMES: u8 = 0x0E;
/// Registry of gateways.
pub const GATEWAYS: u8 = 0x0F;
/// Receipt Registry; reserved.
pub const RECEIPTS: u8 = 0x10;
/// Container images.
pub const CONTAINERS: u8 = 0x11;
/// PaymentGate; reserved.
pub const PAYMENTS: u8 = 0x12;
/// BankActor; reserved.
pub const BANK: u8 = 0x13;
/// The listener to Ethereum's events, and the bridge (003 §16.3); reserved.
pub const BRIDGE: u8 = 0x14;
/// Event Subscription; reserved.
pub const EVENTS: u8 = 0x1D;
