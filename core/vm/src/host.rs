//! The door to the host: values that cross it, and the functions behind it, one row each.

use crate::costs::Priced;
use cowboy_num::F64;
use dashu_int::{IBig, UBig};

/// A value outside the heap.
#[derive(Clone, Debug, PartialEq)]
pub enum HostValue {
    /// `None`
    None,
    /// A truth value.
    Bool(bool),
    /// An integer of any size that the VM knows.
    Int(IBig),
    /// A float, by its bits.
    Float(F64),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Text.
    Str(String),
    /// A list or tuple.
    List(Vec<HostValue>),
    /// A dict, in insertion order.
    Map(Vec<(HostValue, HostValue)>),
}

impl HostValue {
    /// An integer.
    pub fn int(value: impl Into<IBig>) -> Self {
        HostValue::Int(value.into())
    }

    /// A large integer: `magnitude`, big-endian, or −1 − `magnitude`.
    pub fn bignum(is_negative: bool, magnitude: &[u8]) -> Self {
        let magnitude = IBig::from(UBig::from_be_bytes(magnitude));
        HostValue::Int(if is_negative { -magnitude - IBig::ONE } else { magnitude })
    }

    /// How many values it holds, and the bytes of all its texts and bytes.
    pub fn extent(&self) -> (u64, u64) {
        let (mut values, mut bytes) = (0u64, 0u64);
        let mut open = vec![self];
        while let Some(value) = open.pop() {
            let (before, length) = (open.len(), value.length());
            match value {
                HostValue::List(items) => open.extend(items),
                HostValue::Map(pairs) => open.extend(pairs.iter().flat_map(|(key, value)| [key, value])),
                _ => {}
            }
            values = values.saturating_add(u64::try_from(open.len().saturating_sub(before)).unwrap_or(u64::MAX));
            bytes = bytes.saturating_add(u64::try_from(length).unwrap_or(u64::MAX));
        }
        (values, bytes)
    }

    /// Bytes of a text or of bytes; 0 for the others.
    fn length(&self) -> usize {
        match self {
            HostValue::Bytes(bytes) => bytes.len(),
            HostValue::Str(text) => text.len(),
            _ => 0,
        }
    }

    /// The integer as 64 bits, when it is one and fits.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            HostValue::Int(value) => u64::try_from(value.clone()).ok(),
            _ => None,
        }
    }

    /// The integer as 128 bits, when it is one and fits.
    pub fn as_u128(&self) -> Option<u128> {
        match self {
            HostValue::Int(value) => u128::try_from(value.clone()).ok(),
            _ => None,
        }
    }

    /// The bytes, when it is bytes.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            HostValue::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The text, when it is text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            HostValue::Str(text) => Some(text),
            _ => None,
        }
    }
}

/// A request to the host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostCall {
    /// Which function.
    pub function: HostFn,
    /// Its arguments, one per parameter; an omitted one is `None`.
    pub args: Vec<HostValue>,
}

/// A refusal by the host, raised in Python as `pvm_host.HostError` with `code` and `name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostError {
    /// Number of the refusal: 1 limit, 2 invalid input, 3 not found, 5 forbidden, 6 internal, 8 resource limit.
    pub code: u32,
    /// A stable word for it.
    pub name: &'static str,
    /// What went wrong and how to fix it.
    pub message: String,
}

/// Where a host function may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// In queries too (004 §8.3.1; decision 68): committed state, and pure computation.
    Query,
    /// In a delivery only.
    Delivery,
}

macro_rules! host_functions {
    ($($number:literal $variant:ident $name:literal $signature:literal $cycles:literal $weight:literal $access:ident;)*) => {
        /// A function of the module `pvm_host` that the host answers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum HostFn {
            $(#[doc = concat!("`pvm_host.", $name, "(", $signature, ")`")] $variant = $number,)*
        }

        /// A row of the table of host functions.
        #[derive(Clone, Copy, Debug)]
        pub struct HostRow {
            /// The function.
            pub function: HostFn,
            /// Its number, never reused.
            pub number: u16,
            /// Its Python name.
            pub name: &'static str,
            /// Its parameters, in the style of natives; `name=` may be left out.
            pub signature: &'static str,
            /// Cycles charged before the exit; the host may charge more.
            pub cycles: u32,
            /// Weight in nanoseconds.
            pub weight: u32,
            /// Where it may be called.
            pub access: Access,
        }

        impl HostFn {
            /// Its row of the table.
            pub const fn row(self) -> &'static HostRow {
                match self {
                    $(Self::$variant => &HostRow {
                        function: Self::$variant, number: $number, name: $name, signature: $signature, cycles: $cycles,
                        weight: $weight, access: Access::$access,
                    },)*
                }
            }
        }

        /// Every host function.
        pub const HOST_FUNCTIONS: &[HostRow] = &[$(*HostFn::$variant.row(),)*];
    };
}

impl Priced for HostRow {
    /// None: those of the row are charged with the native function that leaves to the host.
    fn cycles(&self) -> u32 {
        0
    }

    fn weight(&self) -> u32 {
        self.weight
    }
}

// Cycles here are those of the call itself; the host charges the price of the work from its parameters.
host_functions! {
    1 Context "context" "" 10 500 Query;
    2 SelfAddress "self_address" "" 10 200 Query;
    3 CurrentBlock "current_block" "" 10 200 Query;
    4 RuntimeConfig "runtime_config" "" 10 300 Query;
    5 GetState "get_state" "key" 10 2000 Query;
    6 SetState "set_state" "key, value" 10 5000 Delivery;
    7 DeleteState "delete_state" "key" 10 5000 Delivery;
    8 SetReservedState "set_reserved_state" "key, value" 10 5000 Delivery;
    9 DeleteReservedState "delete_reserved_state" "key" 10 5000 Delivery;
    10 ScanStatePrefix "scan_state_prefix" "prefix, limit=" 10 20000 Delivery;
    11 ActorOwner "actor_owner" "" 10 2000 Delivery;
    12 ChargeGas "charge_gas" "amount" 10 100 Query;
    13 EmitEvent "emit_event" "name, data, schema=" 10 2000 Delivery;
    14 SendMessage "send_message" "target, payload, value=, handler=, cycles_limit=, cells_limit=" 10 5000 Delivery;
    15 CallActor "call_actor" "target, method, payload, cycles_limit=, access_limit=, value=" 10 10000 Delivery;
    16 ForkActor "fork_actor" "endowment=" 10 1000 Delivery;
    17 TransferBalance "transfer_balance" "to, amount" 10 5000 Delivery;
    18 ScheduleTimer "schedule_timer" "height, payload" 10 10000 Delivery;
    19 ScheduleTimerEx "schedule_timer_ex" "height, payload, fee_payer=, gas_limit=, access_limit=, expires_at=, max_fee_per_cycle=, max_priority_fee_per_cycle=, tier=, bidder=" 10 10000 Delivery;
    20 ExtendTimer "extend_timer" "timer_id, expires_at" 10 10000 Delivery;
    21 CancelTimer "cancel_timer" "timer_id" 10 10000 Delivery;
    22 SubmitJob "submit_job" "job" 10 20000 Delivery;
    23 UpgradeSelf "upgrade_self" "code, manifest=, routes=, sponsorship=" 10 50000 Delivery;
    24 Randomness "randomness" "domain" 10 5000 Delivery;
    25 VerifySignature "verify_signature" "scheme, public_key, message, signature" 10 700000 Query;
    26 Recover "recover" "digest, signature" 10 50000 Query;
    27 TokenCreate "token_create" "name, symbol, decimals=, initial_supply=, max_supply=, transfer_hook=, metadata_uri=" 10 10000 Delivery;
    28 TokenTransfer "token_transfer" "token_id, to, amount" 10 10000 Delivery;
    29 TokenApprove "token_approve" "token_id, spender, amount" 10 10000 Delivery;
    30 TokenTransferFrom "token_transfer_from" "token_id, owner, to, amount" 10 10000 Delivery;
    31 TokenMint "token_mint" "token_id, to, amount" 10 10000 Delivery;
    32 TokenBurn "token_burn" "token_id, amount" 10 10000 Delivery;
    33 TokenBalanceOf "token_balance_of" "token_id, account" 10 5000 Delivery;
    34 TokenAllowance "token_allowance" "token_id, owner, spender" 10 5000 Delivery;
    35 TokenTotalSupply "token_total_supply" "token_id" 10 5000 Delivery;
    36 EntitlementParams "entitlement_params" "name" 10 2000 Query;
    37 SpawnActor "spawn_actor" "code, salt=, init_handler=, init_payload=, manifest=, endowment=" 10 50000 Delivery;
    38 SubscribeEvent "subscribe_event" "source, name, handler=, filter=, bid=" 10 1000 Delivery;
    39 UnsubscribeEvent "unsubscribe_event" "subscription" 10 1000 Delivery;
    40 ForceUnsubscribeEvent "force_unsubscribe_event" "subscription" 10 1000 Delivery;
    41 UpdateBid "update_bid" "subscription, bid" 10 1000 Delivery;
    42 TopupSubscription "topup_subscription" "subscription, amount" 10 1000 Delivery;
    43 IntentDeposit "intent_deposit" "amount=" 10 1000 Delivery;
    44 IntentWithdraw "intent_withdraw" "amount=" 10 1000 Delivery;
    45 IntentBroadcast "intent_broadcast" "payload=" 10 1000 Delivery;
    46 IntentBroadcastEx "intent_broadcast_ex" "payload=, options=" 10 1000 Delivery;
    47 OffchainImageInitialize "offchain_image_initialize" "image=" 10 1000 Delivery;
    48 OffchainImageUpdate "offchain_image_update" "image=" 10 1000 Delivery;
    49 CreateDeferredTx "create_deferred_tx" "handler, payload" 10 5000 Delivery;
    50 TransferOwnership "transfer_ownership" "new_owner" 10 5000 Delivery;
    51 Balance "balance" "address=" 10 2000 Delivery;
    52 BlobCommit "blob_commit" "data" 10 5000 Delivery;
    53 RandomnessAt "randomness_at" "epoch, view, domain" 10 10000 Delivery;
    54 SetInterval "set_interval" "every, payload, gas_limit=, cells_limit=, max_failures=, max_fee_per_cycle=, max_priority_fee_per_cycle=, tier=, bidder=" 10 10000 Delivery;
    55 ResumeInterval "resume_interval" "timer_id" 10 10000 Delivery;
    56 BlobRead "blob_read" "multihash" 10 2000 Query;
    57 DeleteOnFailure "delete_on_failure" "key" 10 5000 Delivery;
    58 CreateVolume "create_volume" "name, keys, quota, value, data=, parity=, max_price=" 10 10000 Delivery;
    59 DeleteVolume "delete_volume" "volume" 10 10000 Delivery;
    60 BlobRef "blob_ref" "volume, hash, size" 10 10000 Delivery;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unique_and_in_order() {
        let numbers: Vec<u16> = HOST_FUNCTIONS.iter().map(|row| row.number).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(HOST_FUNCTIONS.iter().all(|row| u32::from(row.number) == u32::from(row.function as u16)));
    }
}
