//! Why something was refused or failed: numbers in consensus, words beside it.
//!
//! A receipt carries only the number. The words are rows of [`TABLE`], which the API, the CLI and the
//! docs read. An actor whose call is refused reads them, too, as the message of its `HostError`.

crate::record! {
    /// The number of a failure, as it stands in a receipt.
    pub struct Abort {
        /// A row of the error table.
        pub code: u16,
    }
}

/// Which part of the protocol refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// 1000s: before anything runs.
    Admission,
    /// 1100s: reading the source.
    Source,
    /// 1200s: while a handler runs.
    Execution,
    /// 1300s: what the manifest does not allow.
    Entitlement,
    /// 1400s: tokens.
    Token,
    /// 1500s: timers and messages.
    Schedule,
    /// 1600s: runners and jobs.
    Job,
    /// 1700s: names and gateways.
    Name,
    /// 1800s: secrets and proxies.
    Secret,
    /// 1850s: volumes and relays.
    Volume,
    /// 1900s: the rest.
    Other,
}

impl Category {
    /// The category's name in answers.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Admission => "admission",
            Self::Source => "source",
            Self::Execution => "execution",
            Self::Entitlement => "entitlement",
            Self::Token => "token",
            Self::Schedule => "schedule",
            Self::Job => "job",
            Self::Name => "name",
            Self::Secret => "secret",
            Self::Volume => "volume",
            Self::Other => "other",
        }
    }
}

/// What an actor can do about a refusal of the host: the `code` of its `HostError`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A limit of the run is reached.
    Limit,
    /// The arguments, or the state that they meet.
    Input,
    /// What was asked for does not exist.
    NotFound,
    /// Not allowed to this caller, or here.
    Forbidden,
    /// The protocol has no answer.
    Internal,
    /// There is too little of something: funds, room, a quota.
    Resource,
}

impl Class {
    /// The code as Python sees it.
    pub const fn code(self) -> u32 {
        match self {
            Self::Limit => 1,
            Self::Input => 2,
            Self::NotFound => 3,
            Self::Forbidden => 5,
            Self::Internal => 6,
            Self::Resource => 8,
        }
    }
}

/// One row of the error table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorRow {
    /// The number, for ever.
    pub code: u16,
    /// A stable name for programs.
    pub slug: &'static str,
    /// Which part refuses.
    pub category: Category,
    /// What an actor can do about it.
    pub class: Class,
    /// What happened.
    pub what: &'static str,
    /// Why that is refused.
    pub why: &'static str,
    /// What to do about it.
    pub fix: &'static str,
}

macro_rules! errors {
    ($( $code:literal $Name:ident $category:ident $class:ident $slug:literal, $what:literal, $why:literal, $fix:literal; )+) => {
        $(
            #[doc = concat!($what, " ", $why)]
            pub const $Name: Abort = Abort { code: $code };
        )+

        /// Every failure the protocol names, ascending by number.
        pub const TABLE: &[ErrorRow] = &[
            $( ErrorRow {
                code: $code, category: Category::$category, class: Class::$class, slug: $slug, what: $what, why: $why, fix: $fix,
            }, )+
        ];
    };
}

errors! {
    1000 NOT_CANONICAL Admission Input "not_canonical", "The bytes are not a transaction.", "Every transaction has exactly one encoding, and these bytes are not one.", "Build transactions with the CLI or a client library, and send them unchanged.";
    1001 INVALID_SIGNATURE Admission Input "invalid_signature", "A signature does not match its signer.", "The signing key does not belong to the address, the signature is not in low-S form, or the transaction changed after signing.", "Sign again with the sender's key, after the last change.";
    1002 WRONG_NONCE Admission Input "wrong_nonce", "The nonce is not the sender's next nonce.", "Nonces of an account are consecutive, so that no transaction runs twice.", "Read the account's nonce, and sign with it.";
    1003 INSUFFICIENT_VALUE Admission Input "insufficient_balance_for_value", "The balance does not cover the value.", "The value must be available in addition to the reserved fee.", "Send less, or fund the account.";
    1004 INSUFFICIENT_FEE Admission Input "insufficient_balance_for_fee", "The balance does not cover the fee.", "The limits times the maximum prices are reserved before anything runs.", "Lower the limits or prices, or fund the account.";
    1005 OUT_OF_CYCLES Execution Limit "out_of_cycles", "The cycles ran out.", "The handler needed more compute than the limit allows.", "Raise cycles_limit; simulate first to learn how much is needed.";
    1006 OUT_OF_CELLS Execution Limit "out_of_cells", "The cells ran out.", "The handler wrote or carried more bytes than the limit allows.", "Raise cells_limit; simulate first to learn how much is needed.";
    1007 OVERFLOW Admission Input "fee_overflow", "The fee is too large to represent.", "A limit times a price exceeds the total supply of CBY.", "Offer the base fee and a small tip.";
    1008 BASE_FEE_TOO_LOW Admission Input "base_fee_too_low", "The maximum price is below the base fee.", "The base fee is burned, so no proposer can waive it.", "Read the base fees and offer at least those.";
    1009 MISSING_SIGNER Admission Input "missing_signer", "A signer is missing.", "The instruction also needs the signature of another account.", "Add that signature.";
    1010 WRONG_CHAIN Admission Input "wrong_chain", "The transaction is for another chain.", "The chain id is signed, so that a transaction cannot be replayed on another chain.", "Set chain_id to this chain's id and sign again.";
    1011 LIMIT_TOO_HIGH Admission Input "limit_too_high", "A limit is higher than any transaction may use.", "A block must have room for other transactions.", "Lower cycles_limit to the lane's budget, or cells_limit to the block's limit.";
    1012 SIGNERS_UNORDERED Admission Input "signers_unordered", "The additional signers are out of order.", "They ascend strictly by address, so that one set of signers has one encoding.", "Sort them by address and remove duplicates.";
    1013 ORIGIN_NOT_ALLOWED Admission Input "origin_not_allowed", "The transaction has origin fields.", "Only deliveries that the protocol makes itself have them.", "Leave origin_tx_hash and origin_remaining_* absent.";
    1014 TRANSACTION_TOO_LARGE Admission Input "transaction_too_large", "The transaction has too many bytes.", "The parameter execution.transaction_bytes limits them.", "Shorten the code or the payload.";
    1015 LIMIT_TOO_LOW Admission Input "limit_too_low", "A limit is below the base cost.", "Every transaction pays a base cost before it runs.", "Raise the limits to at least the base cost.";
    1016 TIP_ABOVE_MAX Admission Input "tip_above_max", "The tip is above the maximum price.", "The tip is part of the maximum price.", "Lower the priority fee or raise the maximum.";
    1017 DEV_ONLY Admission Input "dev_only", "The instruction exists on dev chains only.", "It would create money or act for others.", "Use it with `cowboyd dev`.";
    1018 POOL_FULL Admission Input "pool_full", "The pool of waiting transactions is full.", "Its size is bounded, and the waiting transactions offer more.", "Raise the tip or try again later.";
    1019 REPLACEMENT_UNDERPRICED Admission Input "replacement_underpriced", "Another transaction with this nonce is already waiting.", "A replacement must offer more, by the share in the parameter fees.replacement_bump: a tenth at genesis.", "Raise both maximum prices by that share.";
    1020 NONCE_GAP Admission Input "nonce_gap", "The nonce is too far ahead.", "The number of waiting transactions of one account is limited.", "Send the missing ones first.";
    1021 BAD_RECIPIENT Admission Input "bad_recipient", "The recipient cannot receive CBY.", "An actor needs the entitlement econ.hold_balance to hold any.", "Send to another address, or redeploy the actor with the entitlement.";
    1022 BAD_SALT Admission Input "bad_salt", "The salt is too long.", "A salt has at most 32 bytes.", "Shorten it.";
    1038 TRANSACTION_EXPIRED Admission Input "transaction_expired", "The transaction waited too long.", "No block could include it for mempool.expiry blocks: an earlier nonce was missing, or its fee or the balance was too low.", "Send it again when the cause is gone.";
    1039 SENDER_SET_APART Admission Input "sender_set_apart", "This node currently accepts no transactions of the sender.", "One of them took far longer to run than its modelled time.", "Find the slow part with /simulate, wait mempool.set_apart blocks, or use another node.";
    1040 TRANSACTION_TOO_SLOW Admission Input "transaction_too_slow", "The transaction takes longer to run than a proposal has time for.", "This node tried it several times, and each time the view would have ended first: the network or the computer is overloaded.", "Send it again later, reduce its work, or use another node.";
    1101 SYNTAX_ERROR Source Input "syntax_error", "The source is not Python 3.11.", "The parser stopped at this line and column.", "Correct the source there.";
    1102 FORBIDDEN_SOURCE Source Input "forbidden_source", "The source uses something that actors may not use.", "Clocks, files, sockets, threads, dynamic code and unlisted modules differ between computers.", "Use what the chain provides: storage, timers, vrf, runners.";
    1103 SOURCE_NOT_CANONICAL Source Input "source_not_canonical", "The source is not UTF-8.", "Source is stored as UTF-8, NFC, LF, without BOM.", "Save the file as UTF-8.";
    1104 MODULE_FAILED Source Input "module_failed", "The module body failed.", "Top-level statements run once at deployment, without access to the chain.", "Move work into init.";
    1201 HANDLER_RAISED Execution Internal "handler_raised", "The handler raised an exception.", "Everything it did is undone.", "Look at the trace: it names the exception, file, line and source.";
    1202 UNKNOWN_HANDLER Execution NotFound "unknown_handler", "The actor has no such handler.", "Only public methods of the actor can be called.", "Check the name; `cowboy actor get` lists the handlers.";
    1203 ACTOR_NOT_FOUND Execution NotFound "actor_not_found", "There is no actor at the address.", "Nothing was deployed there.", "Check the address.";
    1204 ADDRESS_TAKEN Execution Input "address_taken", "There is already an actor at the address.", "The address follows from creator, salt and code, and the same three give the same address.", "Use another salt.";
    1205 OUT_OF_MEMORY Execution Limit "out_of_memory", "The memory ran out.", "The parameter execution.memory_per_call limits what a call may use.", "Keep less in memory at once; keep large data in storage.";
    1206 CALL_DEPTH Execution Forbidden "call_depth_exceeded", "Calls nest too deeply.", "The parameter execution.reentrancy_depth limits how many actors may wait for each other.", "Send a message instead of calling.";
    1207 QUOTA_EXCEEDED Execution Resource "storage_quota_exceeded", "The storage is full.", "An actor has the quota in its manifest, or else the parameter execution.storage_quota_per_actor.", "Delete what you no longer need.";
    1208 RETURN_TOO_LARGE Execution Resource "return_too_large", "The handler returned too much.", "The parameter execution.return_bytes limits return data.", "Return less, or store it and return the key.";
    1209 OUT_OF_TIME Execution Limit "out_of_time", "The delivery exceeded its modelled execution time.", "Besides cycles, every operation has a modelled execution time, which limits how long a block takes.", "Do less hashing, verifying and storing in one call.";
    1210 PERMISSION_DENIED Execution Forbidden "permission_denied", "The sender may not call this handler.", "The actor restricts who may call it.", "Call it as the owner or as one of the named addresses.";
    1211 TRANSFER_FAILED Execution Input "transfer_failed", "The actor's balance does not cover the transfer.", "A transfer is paid from the actor's own balance.", "Fund the actor.";
    1212 DETERMINISM Execution Internal "determinism_error", "The handler did something that could differ between computers.", "Reference cycles are refused, because memory is managed by reference counts.", "Break the cycle: refer by key or index.";
    1213 EVENT_TOO_LARGE Execution Resource "event_too_large", "An event's data is too long.", "The parameter execution.event_bytes limits the data of an event.", "Emit a key and store the rest.";
    1214 TOO_MANY_EVENTS Execution Resource "too_many_events", "The delivery emits too many events.", "The number of events of a delivery is limited.", "Put more into each event.";
    1215 INVALID_ARGUMENT Execution Input "invalid_argument", "An argument is missing or has the wrong type.", "System methods check the types of their arguments.", "See docs/methods.md.";
    1216 NOT_OWNER Execution Forbidden "not_owner", "The sender does not own the actor.", "Only its owner may do this.", "Sign with the owner's key.";
    1217 SYSTEM_UNAUTHORIZED Execution Forbidden "system_unauthorized", "The sender is not authorized to do this.", "Only governance, validators or the security council may.", "Propose it: `cowboy gov propose`.";
    1218 INIT_ONLY_ONCE Execution Input "init_only_once", "The handler init cannot be called.", "It runs in the transaction that creates the actor, and at no other time.", "Name another handler, or deploy again with --init-payload.";
    1219 NOTHING_VESTED Execution Input "nothing_vested", "The bucket has nothing to release.", "Everything that has vested so far was paid out, or the bucket has no beneficiary.", "Call get_vesting for the schedule and the beneficiary.";
    1220 RENT_DEBT Execution Input "rent_debt", "The payment does not match the debt.", "A debt is paid in full, with the catch-up fee.", "Call get_rent for the debt, and add the fee.";
    1221 NOT_DORMANT Execution Input "not_dormant", "The actor has nothing to restore.", "It is not dormant, or its storage is still being pruned.", "Call get_rent for its state.";
    1222 WRONG_CHUNK Execution Input "wrong_chunk", "The entries are not those that were pruned.", "Their hash is not the one that the chain kept.", "Send all entries of one chunk, in ascending order of keys.";
    1223 ACTOR_DORMANT Execution Forbidden "actor_dormant", "The actor is dormant.", "Its rent was not paid and its storage was pruned.", "Pay its debt and restore its storage. Any account may do both.";
    1224 RENT_RESERVE Execution Forbidden "rent_reserve", "The actor must keep its reserve.", "An actor must keep about five weeks of its rent.", "Send less, or store less.";
    1225 VALIDATOR_STAKE Execution Input "validator_stake", "The stake is below the minimum.", "The parameter consensus.validator_stake is the minimum for each validator.", "Stake more.";
    1226 VALIDATOR_UNKNOWN Execution Input "validator_unknown", "There is no such validator.", "No validator is registered at the address.", "Check the address, or register.";
    1227 VALIDATOR_STATE Execution Input "validator_state", "The validator cannot do that now.", "It registers once and leaves once; one that leaves takes no more stake, and stake is added with a value above zero; only one that has left withdraws, and only one in jail is released. Or there are as many validators as there can be.", "`cowboy validator get` shows its status, and `cowboy validator list` who there is. One in jail is released with `unjail`, and one that left is paid with `withdraw`.";
    1228 BAD_EVIDENCE Execution Input "bad_evidence", "The evidence proves nothing new.", "Two different headers of one round by one validator are proof, and each fault counts once.", "Submit two headers that the validator signed.";
    1229 STILL_BOUND Execution Input "still_bound", "The stake is still bound, or the time in jail is not over.", "Stake stays bound for some time after its owner leaves, because a fault that is shown later still costs it. A jail lasts to the height at which it ends.", "Wait, and send the same call again at the height of release, which get_validator, get_gateway, get_proxy or get_relay shows.";
    1230 GOVERNANCE_DEPOSIT Execution Input "governance_deposit", "The deposit is not that of the tier.", "A proposal deposits exactly the amount of its tier.", "Send governance.deposit_0 or governance.deposit_3 with it.";
    1231 GOVERNANCE_STAGE Execution Input "governance_stage", "The proposal is not at that stage.", "A proposal is voted on, counted, waits for its timelock, and is executed, each in its own period.", "Call get_proposal for its stage and height.";
    1239 PARAMETER_NOT_ACTIVE Execution Input "parameter_not_active", "The parameter is not active.", "The rule that would read it does not exist yet, so changing it would have no effect.", "Choose another parameter: docs/parameters.md says which are active.";
    1240 KEY_POSSESSION Execution Input "key_possession", "A proof of possession is not valid.", "The network key and the VRF key sign the registration, for this chain and this account; keys of small order prove nothing.", "Make the proofs with `cowboyd keys registration`.";
    1245 SYSTEM_ACTOR_PAUSED Execution Forbidden "system_actor_paused", "The system actor is paused.", "The security council or a proposal paused it; until it is resumed, it accepts calls from governance only.", "Call get_pauses of 0x09 to see for how long.";
    1246 PROPOSAL_ACTION Execution Input "proposal_action", "Governance cannot take this action.", "Actions are set_parameter, call, disburse, set_council, circuit_break, resume, upgrade and cancel_upgrade, 1 to 16 per proposal. 0x09 cannot be paused, nor an actor that is paused already.", "Propose one of these actions.";
    1247 UPGRADE_REFUSED Execution Input "upgrade_refused", "The schedule of protocol versions cannot change in this way.", "A new version is above all scheduled ones and at most one above the highest that was ever scheduled, and begins later than they do and governance.upgrade_notice blocks from now or later. Only a version that does not apply yet can be cancelled.", "Call get_upgrades of 0x09 for the schedule.";
    1248 PARAMETER_RELATION Execution Input "parameter_relation", "The parameters would not fit together.", "Some parameters must hold a relation to others, such as lanes that fit in a block, and no decision may break one that holds.", "Change the rows that depend on each other in one proposal: docs/parameters.md lists the relations.";
    1249 STORAGE_ENTRY_TOO_LARGE Execution Resource "storage_entry_too_large", "A key or value of storage is too long.", "The parameters execution.storage_key_bytes and execution.return_bytes limit them.", "Shorten the key, or split the value over several keys.";
    1250 VALIDATOR_KEY_TAKEN Execution Input "validator_key_taken", "Another validator is registered with this network key.", "Every validator has a network key of its own, by which the others connect to it and count its votes; also one that has left keeps its key until it withdraws.", "Make new keys with `cowboyd keys new`, and register with the proofs of `cowboyd keys registration`.";
    1301 MISSING_ENTITLEMENT Entitlement Forbidden "missing_entitlement", "The actor's manifest does not grant what it tried.", "An actor may do only what it declared at deployment: the entitlement is missing, or it does not list this host, contract, asset, region or hardware.", "docs/entitlements.md says which entitlement each call needs. Add it, or widen its lists, and deploy again.";
    1302 ENTITLEMENT_QUOTA Entitlement Forbidden "entitlement_quota_exceeded", "A quota of the manifest is used up.", "The grant sets a maximum.", "Deploy with a higher quota.";
    1303 ENTITLEMENT_PARAM Entitlement Input "entitlement_param_invalid", "A parameter of an entitlement is invalid.", "Each entitlement has a schema for its parameters.", "See docs/entitlements.md.";
    1304 ENTITLEMENT_UNKNOWN Entitlement Input "entitlement_unknown", "There is no such entitlement.", "The registry lists all entitlements.", "See docs/entitlements.md.";
    1305 MANIFEST_INVALID Entitlement Input "manifest_invalid", "The manifest is not valid.", "A manifest is canonical CBOR, sorted by id, without duplicates.", "Let the client encode it from JSON.";
    1306 ACTOR_NON_EXECUTABLE Entitlement Input "actor_non_executable", "The actor is not executable.", "An entitlement that it needs was removed.", "The owner must give it a new manifest with redeploy.";
    1307 SYSTEM_ENTITLEMENT_UNAUTHORIZED Entitlement Input "system_entitlement_unauthorized", "The manifest requests sys.upgrade.", "Only system deployers that the genesis names may deploy with it.", "Remove the entitlement, or ask a system deployer.";
    1308 ENTITLEMENT_DUPLICATE Entitlement Input "entitlement_duplicate", "The list names an entitlement twice.", "There is one grant per id.", "Merge the two.";
    1309 ENTITLEMENTS_UNSORTED Entitlement Input "entitlements_unsorted", "The list of grants is not sorted.", "Grants are in ascending order of ids, so that one list has one encoding.", "Let the client encode it from JSON.";
    1310 ATTESTATION_INVALID Entitlement Input "attestation_invalid", "The attestation is not valid.", "It must be canonical CBOR with the fields of the specification, signed by the runner over keccak256 of all other fields, with heights in order.", "Sign it again with the runner's key.";
    1311 MANIFEST_IMMUTABLE Entitlement Input "manifest_immutable", "The actor's manifest cannot change.", "Entitlements are fixed at deployment. Only an actor whose entitlement was removed gets a new manifest.", "Deploy another actor with the manifest that you need.";
    1320 PERMISSION_NOT_FOUND Entitlement Input "permission_not_found", "There is no such record in the Entitlement Registry.", "It was never granted, or it was revoked or expired.", "Check the id; `cowboy entitlement list` shows what an address holds.";
    1321 GRANT_UNAUTHORIZED Entitlement Input "grant_unauthorized", "The sender may not grant, change or take back this permission or role.", "In the scope of an actor its owner and the actor itself may, of a runner the runner, of a token its owner, of a pool or namespace whoever owns its name, and governance everywhere. Holders accept, renounce and delegate what they hold.", "Sign as one of these, or ask one of them for a delegatable permission; `cowboy entitlement list` shows what an address holds.";
    1322 PERMISSION_EXISTS Entitlement Input "permission_exists", "Another address granted the same permission, or the sender has a role of this name.", "Only the issuer of a record can replace it, and each role of an address has a name of its own.", "Ask the issuer to revoke the permission, or choose another name for the role.";
    1323 TOO_MANY_PERMISSIONS Entitlement Input "too_many_permissions", "The address holds too many records.", "An address holds at most 256 records.", "Revoke some first, or use a role.";
    1324 TOO_MANY_ROLES Entitlement Input "too_many_roles", "The address has too many roles.", "An address holds at most 64 roles.", "Revoke some first.";
    1325 NOT_DELEGATABLE Entitlement Input "not_delegatable", "The permission cannot be delegated.", "Its grant does not allow it, its delegations are used up, or the recipient already holds it.", "Ask the issuer for a delegatable permission.";
    1326 DELEGATION_TOO_DEEP Entitlement Input "delegation_too_deep", "The chain of delegations is too long.", "At most 5 delegations follow a grant.", "Delegate from a permission nearer to the grant.";
    1327 CONSTRAINTS_WIDER Entitlement Input "constraints_wider", "The delegation allows more than its parent.", "Each condition must be at least as strict as the parent's, and the number of further delegations smaller.", "Narrow the conditions.";
    1328 NOT_REVOCABLE Entitlement Input "not_revocable", "The permission or role cannot be revoked or narrowed.", "Its conditions say `revocable: false`, which binds its issuer as long as the issuer rules the scope.", "Wait until it expires, a role also until its uses are made, or until the scope has another owner.";
    1329 PERMISSION_UNUSABLE Entitlement Input "permission_unusable", "The permission cannot be used now.", "Its heights, uses, amounts or rate do not allow it.", "Wait for the next window, use less, or ask for a wider permission.";
    1330 ROLE_NOT_FOUND Entitlement Input "role_not_found", "There is no such role.", "It was never created, or never assigned to the address.", "Check the id.";
    1331 CONSTRAINTS_INVALID Entitlement Input "constraints_invalid", "The conditions are invalid.", "The range of heights must be in order and end in the future, counters start at zero, a depth is at most 5 and needs delegatable, and all must fit scope and action.", "Correct them.";
    1332 ROLE_ASSIGNED Entitlement Input "role_assigned", "Addresses have the role, or may still accept it.", "A role is removed once nobody has it.", "Revoke it from them, or let them renounce it, and remove it then.";
    1401 TOKEN_NOT_FOUND Token Input "token_not_found", "There is no such token.", "Nobody created it.", "Check the id; the transaction that created the token returned it.";
    1402 TOKEN_BALANCE Token Input "token_balance", "The account does not have enough tokens.", "A transfer or burn cannot exceed the balance.", "Read token_balance_of, and use a smaller amount.";
    1403 TOKEN_ALLOWANCE Token Input "token_allowance", "The allowance is too small.", "Tokens of another account can be moved up to the amount that the owner approved, and each transfer reduces it.", "Ask the owner to approve more.";
    1404 TOKEN_SUPPLY Token Input "token_supply", "The supply would exceed its maximum.", "A token's maximum supply is fixed when it is created.", "Mint less.";
    1501 TIMER_IN_PAST Schedule Input "timer_in_past", "The timer's height is not in the future.", "A timer never fires in the block that schedules it.", "Use a height above the current one.";
    1502 TOO_MANY_TIMERS Schedule Resource "too_many_timers", "The actor has too many timers.", "An actor has at most as many live timers as its manifest says, or else the parameter timers.timers_per_actor.", "Cancel some, or re-arm one.";
    1503 TIMER_NOT_FOUND Schedule NotFound "timer_not_found", "There is no such timer.", "It fired, expired, was cancelled, or never existed.", "Check the id.";
    1504 TIMER_NOT_OWNED Schedule Forbidden "timer_not_owned", "The timer belongs to another actor.", "Only its owner may change it.", "Ask the owner.";
    1505 BAD_FEE_PAYER Schedule Forbidden "bad_fee_payer", "The payer cannot be charged.", "The actor or account that schedules a timer pays for it; nobody else can be charged.", "Leave fee_payer empty.";
    1506 TIMER_LIMIT Schedule Input "timer_limit", "A timer's limit is too high.", "The parameters timers.auction_cycles_per_fire, and timers.cycles_per_fire before version 2, limit the cycles of a fire, and timers.cells_per_fire its cells.", "Split the work over several timers.";
    1507 TIMER_EXPIRY Schedule Input "timer_expiry", "The timer's expiry is out of range.", "It must be between the timer's height and the maximum time to live.", "Choose a nearer expiry.";
    1508 FANOUT Schedule Resource "fanout_exceeded", "The transaction sends too many messages.", "A transaction and all that follows from it can enqueue at most execution.fanout_per_tx.", "Send fewer, or spread them over timers.";
    1509 MAILBOX_FULL Schedule Resource "mailbox_full", "The mailbox is full.", "The parameter execution.mailbox_capacity limits its bytes.", "Send later.";
    1510 ORIGIN_EXHAUSTED Schedule Input "origin_exhausted", "Nothing is left to pay for the delivery.", "A message is paid from what its originating transaction reserved.", "Raise the limits of the first transaction.";
    1511 TIMER_EXPIRED Schedule Input "timer_expired", "The timer expired before it fired.", "Its last height has passed.", "Choose a later expiry.";
    1512 TIMER_UNFUNDED Schedule Input "timer_unfunded", "The timer's payer could not pay.", "The maximum cost of a fire is charged before it runs, and the rent of an account's timer when it is scheduled.", "Fund the payer, or name an earlier last height.";
    1513 TIMER_PAYLOAD Schedule Input "timer_payload_too_large", "The timer's payload is too large.", "The parameter timers.payload_bytes limits it.", "Store the data and pass its key.";
    1514 DUPLICATE_MESSAGE Schedule Input "duplicate_message", "The message was already delivered.", "Each message is delivered once.", "There is nothing to do.";
    1515 NOT_AN_INTERVAL Schedule Input "not_an_interval", "The timer is not an interval.", "It fires once, so there is nothing to resume.", "Pass the id that set_interval returned.";
    1516 TIMER_BELOW_BASE_FEE Schedule Input "timer_below_base_fee", "The timer's maximum is below the lane's base fee.", "Timers are auctioned, and a timer that pays less than the base fee does not fire.", "Offer more, or leave the bid to the default agent.";
    1601 JOB_INVALID Job Input "job_invalid", "The job is not valid.", "A field is missing, zero, out of its range or of another type.", "See docs/jobs.md: result_schema, bounds, max_price and timeout_blocks are always required.";
    1602 JOB_NOT_FOUND Job Input "job_not_found", "There is no such job.", "It never existed, or it has ended and was deleted.", "Check the id.";
    1603 JOB_ESCROW Job Input "job_escrow", "The submitter cannot pay for the job.", "Price, tip and the maximum cost of the callback are held at submission.", "Fund the submitter, or offer less.";
    1604 NO_CANDIDATES Job Input "no_candidates", "Too few runners can take the job.", "A runner has to be healthy, offer the kind of work, the model, the region and the environment that the job asks for, take no more than max_price, and have enough stake; and the mode of verification needs a minimum of such runners.", "`cowboy job submit` says how many runners each condition removed, and `cowboy runner list` shows those that there are: raise max_price, drop a condition, choose a mode that needs fewer, or wait.";
    1605 RUNNER_NOT_FOUND Job Input "runner_not_found", "The sender is not a registered runner.", "The address has no stake.", "Register first.";
    1606 RUNNER_EXISTS Job Input "runner_exists", "The runner is registered already.", "Each address is one runner.", "Use update, or stake more.";
    1607 STAKE_TOO_LOW Job Input "stake_too_low", "The stake is too low.", "A runner stakes at least jobs.runner_stake_floor, and at least its largest job times jobs.runner_stake_ratio.", "Stake more, or take smaller jobs.";
    1608 REGISTRY_FULL Job Input "registry_full", "The registry of runners is full.", "Every selection reads all runners, so their number is limited.", "Register with more stake than another one has, or wait until one leaves.";
    1609 NOT_A_MEMBER Job Input "not_a_member", "The sender is not a member of the job's committee.", "Only drawn runners may commit and reveal.", "Wait to be drawn.";
    1610 WRONG_PHASE Job Input "wrong_phase", "The job does not accept this now.", "Commitments come first, then reveals, then challenges, each in its own window.", "Look at the job's status and deadlines.";
    1611 ALREADY_DONE Job Input "already_done", "The sender has already done this.", "A member commits once and reveals once.", "There is nothing to do.";
    1612 COMMITMENT_MISMATCH Job Input "commitment_mismatch", "The result is not what was committed to.", "A commitment is keccak256(output and salt), and the salt ends with the runner's own address.", "Reveal the bytes and the salt of the commitment.";
    1613 RESULT_SIGNATURE Job Input "result_signature", "The result is not signed by the runner.", "Ed25519 over the result's bytes, by the key that the runner registered.", "Sign with the registered key.";
    1614 RESULT_TOO_LARGE Job Input "result_too_large", "The result is too long.", "The job limits the bytes of its result, and the parameter jobs.result_bytes limits those of all jobs.", "Return less.";
    1615 UNBONDING Job Input "unbonding", "The stake is not free yet.", "Stake that is being withdrawn can be slashed until its release.", "Wait until the release height, which `cowboy runner leave` printed.";
    1616 RUNNER_BUSY Job Input "runner_busy", "The runner has unfinished jobs.", "Its stake secures them.", "Finish them first.";
    1617 MODEL_EXISTS Job Input "model_exists", "The model is published already.", "A model's id follows from its parts.", "Use the existing id.";
    1618 MODEL_NOT_FOUND Job Input "model_not_found", "There is no such model.", "Nobody published it, or it was banned.", "Publish it, or name another.";
    1619 CHALLENGE_REFUSED Job Input "challenge_refused", "The result cannot be challenged in this way.", "The window or the dispute is over, the mode has no such challenge, the work is already being repeated, there are 64 claims with larger bonds, or the bond is too small.", "Check the job's status, and send the bond.";
    1620 ON_PROBATION Job Input "on_probation", "The runner's probation is not over.", "Its reputation fell below the minimum.", "Wait until its end, then send a heartbeat.";
    1621 NOT_PAYABLE Job Input "not_payable", "The method takes no CBY.", "CBY sent with the call would be lost.", "Send no value.";
    1622 TEE_DOCUMENT Job Input "tee_document", "The document does not prove the environment.", "Its certificates must lead to a trusted root at the block's time, it must not come from a debug environment, and its data must begin with keccak256(\"cowboy-tee-key:\", runner, key).", "Fetch new collateral, and let the program create the document with that data.";
    1623 TEE_POLICY Job Input "tee_policy", "The program has not been accepted.", "Governance names the accepted measurements.", "Run an accepted program, or propose this one.";
    1624 JOB_UNSUPPORTED Job Input "job_unsupported", "The job requires something that this chain does not offer.", "Volumes, and secrets in other forms than `secrets`, need what is not part of it.", "Leave out secret_refs, private_attachments, volumes and volume_mounts.";
    1625 IMAGE_NOT_ALLOWED Job Input "image_not_allowed", "The container's image is not on the list of allowed images.", "A runner starts only an image whose digest is allowed in the Container Registry, so that nobody is harmed by a program that nobody has looked at. A job that requires a trusted environment may name any digest.", "`cowboy image list` shows what is allowed: name an image as name@sha256:…, ask for yours to be allowed with `cowboy image allow`, or set verification.tee_required.";
    1626 DELEGATION_REFUSED Job Input "delegation_refused", "The delegation is not taken.", "Delegated stake counts up to a multiple of the runner's own, by default nine times, and what would not count is not taken. Nobody delegates to one that leaves.", "Delegate less, or to another runner; get_delegation shows what is there.";
    1627 JOB_FIELD Job Input "job_field", "The job has a field that is unknown, or that stands in two places.", "Permission check, chain and runner read the same fields, each in one place.", "Leave the field out, or name it x-… for the runner alone; `cowboy job submit` and `cowboy job run` say which it is.";
    1628 JOB_TIMEOUT Job Input "job_timeout", "The job's timeout_blocks are too few for the time that its bounds allow.", "A runner that uses all of its time could not answer in time, and would be blamed for it.", "Let timeout_blocks be at least max_wall_time_ms / consensus.block_time, rounded up, and jobs.timeout_margin more; or bound the time.";
    1629 JOB_CONTRADICTION Job Input "job_contradiction", "No result can pass the job's checks.", "Bounds exclude each other, a schema accepts nothing, or the same text is both required and forbidden.", "Correct the checks; cowboy job run --local shows the result of a job.";
    1630 CONTAINER_INVALID Job Input "container_invalid", "What the job says of its container is not valid.", "image, source, command, env, class or resources, platform, network, stdin and output have the forms of docs/jobs.md.", "Simulating the submission names the field and its form.";
    1701 NAME_INVALID Name Input "name_invalid", "The name is not valid.", "Each label has 3 to 64 characters of a-z, 0-9 and hyphens, with no hyphen at an end; at most 8 labels, 237 bytes together.", "Choose another name.";
    1702 NAME_INTERNATIONAL Name Input "name_international", "Names may contain only the letters a to z.", "Other letters can look alike, which would mislead people.", "Write it with a-z and 0-9, and without hyphens in both third and fourth place.";
    1703 NAME_RESERVED Name Input "name_reserved", "The name is reserved for governance.", "www, api, dns, gateway, relay, node, cowboy, system and admin belong to the protocol.", "Choose another name.";
    1704 NAME_TAKEN Name Input "name_taken", "The name is taken.", "It is registered, or its owner may still renew it.", "Choose another name, or wait until its grace period is over: quote returns the stage.";
    1705 NAME_NOT_FOUND Name Input "name_not_found", "There is no such name now.", "It was never registered, or it or a name above it has expired.", "Register it.";
    1706 NAME_NOT_OWNER Name Input "name_not_owner", "The name belongs to somebody else.", "Only its owner can change it.", "Sign with the owner's key.";
    1707 NAME_FEE Name Input "name_fee", "The value does not cover the fee.", "A term is paid in advance.", "Call quote for the fee. Overpayment is refunded.";
    1708 NAME_TARGET Name Input "name_target", "The actor does not accept web requests.", "Only an actor with ingress.http in its manifest can have a name.", "Deploy it with that entitlement.";
    1709 NAME_FOREIGN_ACTOR Name Input "name_foreign_actor", "The actor is not the sender's.", "A name for an actor is registered by the actor itself or by its owner.", "Sign with the key of the actor's owner.";
    1710 NAME_POLICY Name Input "name_policy", "The name above does not allow the sender to register names below it.", "Its policy says who may: its owner, its actor, or anyone.", "Ask its owner to register the name, or to change the policy.";
    1711 NAME_DURATION Name Input "name_duration", "The term is too short or too long.", "A name can be paid at most ten years in advance.", "Choose another number of blocks.";
    1712 DOMAIN_INVALID Name Input "domain_invalid", "The domain cannot be claimed.", "A domain is a host name in lower case with a dot in it, without port and final dot; names below cowboy.network are registered.", "Write it like shop.example.com; letters beyond a to z in their encoded form, xn--.";
    1713 DOMAIN_CLAIMED Name Input "domain_claimed", "The name claims the domain already.", "A claim counts until the name is handed on or expires.", "Set the domain's TXT record.";
    1714 DOMAIN_LIMIT Name Input "domain_limit", "The name claims too many domains.", "Governance says how many a name may claim.", "Release one.";
    1715 DOMAIN_DEPOSIT Name Input "domain_deposit", "The value does not cover the deposit of a claim.", "A claim takes room in the state until it is released.", "Send names.domain_deposit; what is too much comes back.";
    1716 RECORD_DEPOSIT Name Input "record_deposit", "The balance does not cover the deposit of a record.", "An allowance, a role, or a name below another one that costs no fee, takes room in the state until it is removed: rent.record_deposit for each 1,024 bytes that it begins.", "Fund the account with the deposit; it comes back when the record is removed.";
    1720 UNAUTHORIZED_GATEWAY Name Input "unauthorized_gateway", "The sender is not an active gateway.", "Web requests come from gateways that are registered, staked, healthy and not leaving: ERR_UNAUTHORIZED_GATEWAY.", "Register and send heartbeats.";
    1721 GATEWAY_EXISTS Name Input "gateway_exists", "The gateway is registered already.", "Each address is one gateway.", "Use set_endpoint or add_stake.";
    1722 GATEWAY_UNKNOWN Name Input "gateway_unknown", "The sender is not a registered gateway.", "The address has no stake.", "Register first.";
    1723 GATEWAY_STAKE Name Input "gateway_stake", "The stake would be below the minimum.", "The parameter gateways.stake_min is the minimum for each gateway.", "Send more, or draw less.";
    1724 GATEWAY_STATE Name Input "gateway_state", "The gateway cannot do that now.", "One that is leaving takes no more stake and sends no heartbeats, and stake is added with a value above zero.", "`cowboy gateway get` shows its state: finish leaving with `cowboy gateway unstake` and register again, or send a value.";
    1725 GATEWAY_ENDPOINT Name Input "gateway_endpoint", "The endpoint is not valid.", "An endpoint is a lower-case host name or an address, with a port.", "Write it like gw1.example.com and 443.";
    1726 INGRESS_MISSING Name Input "ingress_missing", "The actor does not accept web requests.", "Its manifest does not have ingress.http.", "Deploy it with that entitlement.";
    1727 INGRESS_INVALID Name Input "ingress_invalid", "The request is not valid.", "A request has method, path, query, headers, body, host and request_id, each of its type.", "Send a request in the form that a gateway creates.";
    1728 INGRESS_METHOD Name Input "ingress_method", "The actor does not accept the method here.", "Its manifest lists the accepted methods, and only those that change state are dispatched.", "Use another method.";
    1729 INGRESS_TOO_LARGE Name Input "ingress_too_large", "The body is too long.", "The actor's manifest limits its length.", "Send less.";
    1730 REQUEST_REPEATED Name Input "request_repeated", "The request was already delivered.", "Each request id counts once.", "There is nothing to do. Read its result.";
    1731 REQUEST_ID_FOREIGN Name Input "request_id_foreign", "The request's id is not made of this gateway, target and salt.", "An id is made of all three, so that no gateway can use up another's.", "Make it as 0x0F's dispatch says.";
    1801 SECRET_NOT_FOUND Secret Input "secret_not_found", "There is no such secret.", "The account has none with this name, or not this version.", "Check the account, the name and the version: cowboy secret ls.";
    1802 SECRET_INVALID Secret Input "secret_invalid", "The secret is not sealed for this chain, key, account and policy.", "The identity in the sealed bytes names all of them and the next version, and points and policy have one form.", "Seal it again with cowboy secret set.";
    1803 SECRET_LIMIT Secret Limit "secret_limit", "The account has too many secrets, or the secret too many versions.", "Governance limits both: secrets.per_account and secrets.versions.", "Delete one that is no longer needed.";
    1804 SECRET_DEPOSIT Secret Input "secret_deposit", "The balance does not cover the deposit, or the fee, of the secret.", "Each sealed byte takes room in the state until it is deleted; a release costs secrets.release_fee.", "Fund the account; the deposit comes back when the secret is deleted.";
    1805 SECRET_PAUSED Secret Input "secret_paused", "The secret is paused.", "Its owner stopped every release of it.", "Resume it: cowboy secret resume.";
    1806 NO_RELEASE_KEY Secret Input "no_release_key", "There is no key to seal to, or to release with.", "No dealing of the key has succeeded yet, or its sunset has passed.", "Wait until a committee is seated: get_key shows it.";
    1807 RELEASE_NOT_FOUND Secret Input "release_not_found", "There is no such release.", "It was never opened, or its record was deleted.", "Check the id.";
    1808 RELEASE_STATE Secret Input "release_state", "The release does not accept this now.", "It is closed, its deadline passed, its secret was paused or deleted, or a demand was made already.", "get_release shows what there is.";
    1809 RELEASE_SERVED Secret Input "release_served", "A member that is named cannot have answered.", "A place is not one of the committee's, fewer answered than are needed to close, or enough answered for nobody to be missing.", "Name who answered; demand only what is missing to the threshold.";
    1810 RELEASE_REFUSED Secret Input "release_refused", "The policy does not allow the release.", "A policy says which jobs may use a version and send it to which hosts, which runners see it, and when and how often.", "Store a version with another policy.";
    1811 TRANSPORT_KEY Secret Input "transport_key", "The transport key is not valid.", "It is a point of G1 other than the identity element, and the proof must be its owner's signature over it.", "Make a new key.";
    1812 RELEASE_FOREIGN Secret Input "release_foreign", "The release is somebody else's.", "Only its recipient can close it, or demand answers.", "Sign with the recipient's key.";
    1813 SECRETS_NOT_APPLICABLE Secret Input "secrets_not_applicable", "A job of this kind takes no secrets.", "A value goes only where the job itself says: to the host of a web job, or into a container.", "Leave `secrets` out, or ask for the page with a web job.";
    1820 PROXY_EXISTS Secret Input "proxy_exists", "The proxy is registered already.", "Each address and each key is one proxy.", "Use update_proxy or add_stake.";
    1821 PROXY_UNKNOWN Secret Input "proxy_unknown", "The sender is not a registered proxy.", "The address has no stake.", "Register first.";
    1822 PROXY_STAKE Secret Input "proxy_stake", "The stake is below the minimum.", "The parameter secrets.proxy_stake is the minimum for each proxy.", "Send more.";
    1823 PROXY_ENDPOINT Secret Input "proxy_endpoint", "The endpoint is not valid.", "An endpoint is a lower-case host name or an IPv6 address, with a port.", "Write it like proxy1.example.com and 443.";
    1824 PROXY_KEY Secret Input "proxy_key", "The key is not the sender's.", "It is an Ed25519 key that signs the genesis hash, the sender and itself.", "Sign with the key that is registered.";
    1825 PROXY_STATE Secret Input "proxy_state", "The proxy cannot do that now.", "It left already; or it has not left, has a seat in the committee or an open demand, and so cannot withdraw; or stake was added with no value.", "get_proxy and get_key show which: leave once, answer what is open, and withdraw secrets.unbonding blocks after the last seat.";
    1826 PROXIES_FULL Secret Limit "proxies_full", "The registry of proxies is full.", "Every draw reads all proxies, so their number is limited.", "Register with more stake than an idle one has, or wait until one leaves.";
    1830 NOT_IN_DEALING Secret Input "not_in_dealing", "The sender does not speak in this phase of the dealing.", "Players join, acknowledge and confirm; dealers deal and publish logs.", "Wait to be drawn.";
    1831 DEALING_PHASE Secret Input "dealing_phase", "The dealing is not in this phase.", "A dealing has five phases, each of secrets.phase blocks: join, deal, ack, log, confirm.", "get_round shows the dealing that is under way.";
    1832 DEALING_SPOKEN Secret Input "dealing_spoken", "The sender has already spoken in this phase.", "Each member speaks once in a phase.", "There is nothing to do.";
    1833 DEALING_MESSAGE Secret Input "dealing_message", "The message is not valid.", "It has 1 to 3,968 bytes; a key is not zero.", "Run cowboy-proxy, which makes the messages.";
    1834 DEALING_OUTCOME Secret Input "dealing_outcome", "The outcome is not one of this dealing.", "It hashes to the digest, has as many coefficients as members have to answer, and leaves the public key as it was.", "Compute it from the messages in the order of the chain.";
    1840 ANSWER_INVALID Secret Input "answer_invalid", "The answer is not the sender's.", "It must satisfy both equations for the release's identity and transport key, and the sender must have to answer.", "Answer with the share of the committee that the release names.";
    1841 ACCUSATION_FALSE Secret Input "accusation_false", "The answer proves no fault.", "It holds, the signature does not, or it was shown already.", "Accuse only with an answer that the member signed and that does not hold.";
    1842 DEMAND_BOND Secret Input "demand_bond", "The value does not cover the bond of a demand.", "The bond is lost where every member answers.", "Send secrets.demand_bond.";
    1843 RELEASE_DEMANDS Secret Limit "release_demands", "The members that are missing have as many demands to answer as they can.", "The parameter secrets.demands limits them: more could not be answered in time.", "Wait until some are over.";
    1850 VOLUME_NOT_FOUND Volume Input "volume_not_found", "There is no such volume or partition.", "Ids are made of the owner's address and the name; a partition exists from its first commit on.", "Check the id: cowboy volume list.";
    1851 VOLUME_EXISTS Volume Input "volume_exists", "The account has a volume of this name.", "An id is made of the owner's address and the name.", "Choose another name.";
    1852 VOLUME_INVALID Volume Input "volume_invalid", "The arguments do not describe a volume.", "Names are [A-Za-z0-9_.-]{1,64}, keys public, committee or owner, 1 to 16 data shards and 1 to 8 parity shards, modes r, w or rw.", "Check the arguments.";
    1853 VOLUME_FOREIGN Volume Forbidden "volume_foreign", "The volume is somebody else's.", "Its owner may do everything. A capability lets its holder read or write one partition, and only where the call names it.", "Sign with the owner's key, or name a capability that the owner issued to the sender: cowboy volume grant.";
    1854 VOLUME_LIMIT Volume Limit "volume_limit", "There are too many volumes, partitions or capabilities.", "An account has volumes.per_account volumes, a volume 64 partitions and volumes.capabilities capabilities.", "Delete what is no longer needed.";
    1855 VOLUME_RELAYS Volume Limit "volume_relays", "Too few relays can take the volume.", "Each slot needs a relay of its own that is up, has the stake and the room, and asks no more than max_price.", "See who lacks what: cowboy relay list. Wait for relays, take fewer shards, lower the quota, or raise max_price.";
    1856 VOLUME_ESCROW Volume Input "volume_escrow", "The escrow does not last.", "At first it has to last for volumes.reserve_epochs epochs of the full volume, and for one epoch when the volume grows.", "Send more: quote says how much.";
    1857 VOLUME_STATE Volume Input "volume_state", "The volume does not accept this now.", "A deleted volume accepts only its restoration, for volumes.undelete blocks, and one that is not deleted has nothing to restore. A job mounts no volume whose key its owner keeps, and needs no right to read a public one; only keys of a committee are released.", "`cowboy volume info` shows how it stands and who has its keys; `cowboy volume undelete` restores it.";
    1858 VOLUME_FULL Volume Limit "volume_full", "The quota does not cover the files.", "A volume has at most as many bytes of ciphertext as its quota.", "Raise the quota: cowboy volume set-quota.";
    1859 COMMIT_CONFLICT Volume Input "commit_conflict", "The partition has another root by now.", "Somebody else committed first.", "Merge the changes into the standing root, and commit again.";
    1860 COMMIT_ACKS Volume Input "commit_acks", "Too few relays acknowledged the root.", "k + m/2 slots, rounded up, have to sign the old root, the new one and the sum, in ascending order.", "Upload to more relays of the volume.";
    1861 COMMIT_REVERT Volume Input "commit_revert", "There is no root to go back to.", "A partition keeps one root before the standing one, for volumes.revert blocks.", "Commit what is wanted.";
    1862 CAPABILITY_REFUSED Volume Forbidden "capability_refused", "No capability of the sender allows this.", "A capability lets one account read, write or both (r, w, rw) in one partition of a volume, for a number of bytes and until a height. It is not there, was revoked or is over, belongs to somebody else, or does not cover this.", "`cowboy volume info` lists the capabilities of a volume: use one that covers the access, or let the owner grant one with `cowboy volume grant`.";
    1863 KEY_VERSION Volume Input "key_version", "The partition's files are under another version of its key.", "A root has the version of the standing one; where the owner rewrites a private partition, the next one. A release is for one of these, or for the version before, while revert can bring it back.", "Read the partition's version again, and encrypt the files with its key.";
    1870 RELAY_EXISTS Volume Input "relay_exists", "The relay is registered already.", "Each address and each key is one relay.", "Use update_relay or add_stake.";
    1871 RELAY_UNKNOWN Volume Input "relay_unknown", "There is no such relay.", "The address has no stake at 0x0B.", "Register first.";
    1872 RELAY_STAKE Volume Input "relay_stake", "The stake does not cover the capacity.", "A relay needs volumes.relay_stake, and at least volumes.stake_per_gib for each GiB; it cannot offer less than its slots have.", "Send more, or offer less.";
    1873 RELAY_ENDPOINT Volume Input "relay_endpoint", "The endpoint or the region is not valid.", "An endpoint is a lower-case host name or an IPv6 address, with a port; a region is up to 16 of a-z, 0-9 and -.", "Write it like relay1.example.com and 443.";
    1874 RELAY_KEY Volume Input "relay_key", "The key is not the sender's.", "It is an Ed25519 key that signs the genesis hash, the sender and itself.", "Sign with the key that is registered.";
    1875 RELAY_STATE Volume Input "relay_state", "The relay cannot do that now.", "It left already or gave way to another; or it has not left or still has slots, and so cannot withdraw; or stake was added with no value.", "get_relay shows which: leave once, wait until the slots have moved to other relays, and withdraw volumes.unbonding blocks after leaving.";
    1876 RELAYS_FULL Volume Limit "relays_full", "The registry of relays is full.", "Every draw reads all relays, so their number is limited.", "Register with more stake than another one has, or wait until one leaves.";
    1877 SLOT_FOREIGN Volume Input "slot_foreign", "The slot is not one that the relay has to rebuild, or serves.", "The chain gives slots to relays, and takes them back.", "get_volume shows who has which slot.";
    1880 PROOF_NOT_DUE Volume Input "proof_not_due", "No proof is due.", "Points are drawn every volumes.proof_period blocks, and answered within volumes.proof_window.", "get_round shows what is due.";
    1881 PROOF_INVALID Volume Input "proof_invalid", "The bytes do not prove what was asked for.", "A proof has the leaf with the byte, the way to the root, and the slice of its chunk.", "Answer with what the round or the demand names.";
    1882 DEMAND_NOT_FOUND Volume Input "demand_not_found", "There is no such demand of the sender.", "It was answered, or its time is over.", "There is nothing to do.";
    1883 DEMAND_INVALID Volume Input "demand_invalid", "The demand names no part that the relay has to have.", "It needs a leaf under the standing root, a slot that acknowledged the root, and 1 to 32,768 bytes of its shard.", "Take leaf and way from the standing root.";
    1884 STORAGE_BOND Volume Input "storage_bond", "The value does not cover the bond of a demand.", "The relay's fee is paid out of it, and the rest comes back.", "Send volumes.demand_bond.";
    1885 DEMANDS_FULL Volume Limit "demands_full", "The relay has as many demands to answer as it can.", "The parameter volumes.demands limits them: more could not be answered in time.", "Wait until one is over.";
    1900 UNAVAILABLE Other Forbidden "unavailable", "The function is not part of this chain.", "The name exists only so that imports work.", "Do without it.";
    1901 INTERNAL Other Internal "internal", "The chain failed for an internal reason.", "This is a bug.", "Report it, with the transaction's hash.";
}

/// The failure of this name, where there is one.
pub fn by_slug(slug: &str) -> Option<Abort> {
    TABLE.iter().find(|row| row.slug == slug).map(|row| Abort { code: row.code })
}

/// The row of a number, or the row of "unavailable" where a newer chain knows more numbers than this program.
pub fn row(code: u16) -> &'static ErrorRow {
    let fallback = || TABLE.iter().find(|row| row.code == UNAVAILABLE.code);
    TABLE.iter().find(|row| row.code == code).or_else(fallback).expect("the table has the fallback row")
}
