//! Why something was refused or failed: numbers in consensus, words beside it.
//!
//! A receipt carries only the number. The words are rows of [`TABLE`], which the API, the CLI and the
//! docs read; changing them never forks the chain.

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
    1001 INVALID_SIGNATURE Admission Input "invalid_signature", "A signature does not match its signer.", "The key that signed is not the one of the address, the signature is not in low-S form, or the transaction changed after signing.", "Sign again with the key of the sender, after the last change.";
    1002 WRONG_NONCE Admission Input "wrong_nonce", "The nonce is not the sender's next.", "Each transaction of an account has the number after the last one, so that none runs twice.", "Ask for the account's nonce and sign with it.";
    1003 INSUFFICIENT_VALUE Admission Input "insufficient_balance_for_value", "The balance does not cover the value.", "What is sent must be there beside the reserved fee.", "Send less, or fund the account.";
    1004 INSUFFICIENT_FEE Admission Input "insufficient_balance_for_fee", "The balance does not cover the fee.", "The limits times the maximum prices are reserved before anything runs.", "Lower the limits or prices, or fund the account.";
    1005 OUT_OF_CYCLES Execution Limit "out_of_cycles", "The cycles ran out.", "The handler needed more compute than the limit allows.", "Raise cycles_limit; simulate first to learn how much is needed.";
    1006 OUT_OF_CELLS Execution Limit "out_of_cells", "The cells ran out.", "The handler wrote or carried more bytes than the limit allows.", "Raise cells_limit; simulate first to learn how much is needed.";
    1007 OVERFLOW Admission Input "fee_overflow", "The fee does not fit a number.", "A limit times a price is beyond all CBY there are.", "Use sane prices: the base fee and a small tip.";
    1008 BASE_FEE_TOO_LOW Admission Input "base_fee_too_low", "The maximum price is below the base fee.", "The base fee of the block is burned, whoever proposes it.", "Ask for the base fees and offer at least those.";
    1009 MISSING_SIGNER Admission Input "missing_signer", "A signer is missing.", "The instruction needs the signature of another account too.", "Add the co-signature.";
    1010 WRONG_CHAIN Admission Input "wrong_chain", "The transaction is for another chain.", "The chain id is part of what is signed, so nothing can be replayed elsewhere.", "Set chain_id to this chain's and sign again.";
    1011 LIMIT_TOO_HIGH Admission Input "limit_too_high", "A limit is above what any transaction may use.", "A block must have room for others too.", "Lower cycles_limit to the lane's budget or cells_limit to the block's cap.";
    1012 SIGNERS_UNORDERED Admission Input "signers_unordered", "The additional signers are out of order.", "They ascend strictly by address, so that one set of signers has one encoding.", "Sort them by address and remove duplicates.";
    1013 ORIGIN_NOT_ALLOWED Admission Input "origin_not_allowed", "The transaction carries origin fields.", "Those belong to deliveries that the protocol makes itself.", "Leave origin_tx_hash and origin_remaining_* absent.";
    1014 TRANSACTION_TOO_LARGE Admission Input "transaction_too_large", "The transaction has too many bytes.", "A transaction has at most 128 KiB.", "Shorten the code or the payload.";
    1015 LIMIT_TOO_LOW Admission Input "limit_too_low", "A limit is below the base cost.", "Every transaction pays a base cost before it runs.", "Raise the limits to at least the base cost.";
    1016 TIP_ABOVE_MAX Admission Input "tip_above_max", "The tip is above the maximum price.", "The tip is part of the maximum price.", "Lower the priority fee or raise the maximum.";
    1017 DEV_ONLY Admission Input "dev_only", "The instruction exists on dev chains only.", "It would create money or act for others.", "Use it with `cowboyd dev`.";
    1018 POOL_FULL Admission Input "pool_full", "The pool of waiting transactions is full.", "What waits is bounded, and others offer more.", "Raise the tip or try again later.";
    1019 REPLACEMENT_UNDERPRICED Admission Input "replacement_underpriced", "Another transaction of this nonce waits already.", "A replacement must offer more by the share that the parameter fees.replacement_bump says: a tenth at genesis.", "Raise both maximum prices by that share.";
    1020 NONCE_GAP Admission Input "nonce_gap", "The nonce is too far ahead.", "The number of waiting transactions of one account is limited.", "Send the missing ones first.";
    1021 BAD_RECIPIENT Admission Input "bad_recipient", "The recipient cannot receive CBY.", "An actor needs the entitlement econ.hold_balance to hold any.", "Send to another address, or redeploy the actor with the entitlement.";
    1022 BAD_SALT Admission Input "bad_salt", "The salt is too long.", "A salt has at most 32 bytes.", "Shorten it.";
    1038 TRANSACTION_EXPIRED Admission Input "transaction_expired", "The transaction waited too long.", "No block could take it for as many blocks as the parameter mempool.expiry says: a nonce before it was missing, or its fee or funds did not do.", "Send it again when what it waited for is there.";
    1039 SENDER_SET_APART Admission Input "sender_set_apart", "This node takes none of the sender's transactions for a while.", "One of them took far longer to run than its modelled time.", "Find what is slow with /simulate, wait as many blocks as the parameter mempool.set_apart says, or use another node.";
    1040 TRANSACTION_TOO_SLOW Admission Input "transaction_too_slow", "The transaction takes longer to run than a proposal has time for.", "This node tried it several times, and each time the view would have been over: the network has too much to do, or the computer is slow.", "Send it again when the network has less to do, let it do less, or use another node.";
    1101 SYNTAX_ERROR Source Input "syntax_error", "The source is not Python 3.11.", "The parser stops at the line and column given.", "Fix the source at that place.";
    1102 FORBIDDEN_SOURCE Source Input "forbidden_source", "The source uses something that actors may not.", "Clocks, files, sockets, threads, dynamic code and unlisted modules differ between machines.", "Use the chain's own: storage, timers, vrf, runners.";
    1103 SOURCE_NOT_CANONICAL Source Input "source_not_canonical", "The source is not UTF-8.", "Source is stored as UTF-8, NFC, LF, without BOM.", "Save the file as UTF-8.";
    1104 MODULE_FAILED Source Input "module_failed", "The module body failed.", "Top-level statements run once at deployment, without access to the chain.", "Move work into init.";
    1201 HANDLER_RAISED Execution Internal "handler_raised", "The handler raised an exception.", "Everything it did is undone.", "Look at the trace: it names the exception, file, line and source.";
    1202 UNKNOWN_HANDLER Execution NotFound "unknown_handler", "The actor has no such handler.", "Only public methods of the actor can be called.", "Check the name; `cowboy actor get` lists the handlers.";
    1203 ACTOR_NOT_FOUND Execution NotFound "actor_not_found", "There is no actor at the address.", "Nothing was deployed there.", "Check the address.";
    1204 ADDRESS_TAKEN Execution Input "address_taken", "An actor lives at the address already.", "Creator, salt and code make the address; the same three make the same one.", "Use another salt.";
    1205 OUT_OF_MEMORY Execution Limit "out_of_memory", "The memory ran out.", "A call has 10 MiB.", "Hold less at once; keep large data in storage.";
    1206 CALL_DEPTH Execution Forbidden "call_depth_exceeded", "Calls nest too deeply.", "At most 32 actors may wait for each other.", "Send a message instead of calling.";
    1207 QUOTA_EXCEEDED Execution Resource "storage_quota_exceeded", "The storage is full.", "An actor has 1 MiB, or what its manifest asks for.", "Delete what is not needed.";
    1208 RETURN_TOO_LARGE Execution Resource "return_too_large", "The handler returned too much.", "Return data has at most 64 KiB.", "Return less, or store it and return the key.";
    1209 OUT_OF_TIME Execution Limit "out_of_time", "The delivery exceeded its modelled execution time.", "Besides cycles every operation has a modelled execution time, which limits how long a block takes.", "Do less hashing, verifying and storing in one call.";
    1210 PERMISSION_DENIED Execution Forbidden "permission_denied", "The sender may not call this handler.", "The actor restricts who may.", "Call as the owner or as one of the named addresses.";
    1211 TRANSFER_FAILED Execution Input "transfer_failed", "The actor has less than it sends.", "Value goes out of its own balance.", "Fund the actor.";
    1212 DETERMINISM Execution Internal "determinism_error", "The handler did what would differ between machines.", "Reference cycles are refused, because memory is counted.", "Break the cycle: refer by key or index.";
    1213 EVENT_TOO_LARGE Execution Resource "event_too_large", "An event's data is too long.", "An event has at most 4,096 bytes.", "Emit a key and store the rest.";
    1214 TOO_MANY_EVENTS Execution Resource "too_many_events", "Too many events.", "A delivery may emit a limited number.", "Put more into each event.";
    1215 INVALID_ARGUMENT Execution Input "invalid_argument", "An argument is not what the method takes.", "System methods read exact types.", "See the method's page.";
    1216 NOT_OWNER Execution Forbidden "not_owner", "The sender does not own the actor.", "Only the owner may.", "Sign with the owner's key.";
    1217 SYSTEM_UNAUTHORIZED Execution Forbidden "system_unauthorized", "The sender may not do this.", "It is for governance, for validators, or for the security council.", "Propose it: `cowboy gov propose`.";
    1218 INIT_ONLY_ONCE Execution Input "init_only_once", "The handler init cannot be called.", "It runs in the transaction that creates the actor, and at no other time.", "Name another handler, or deploy again with --init-payload.";
    1219 NOTHING_VESTED Execution Input "nothing_vested", "Nothing of the bucket can be released.", "All that has vested so far was paid out, or nobody was named to receive it.", "Ask get_vesting for the schedule and the beneficiary.";
    1220 RENT_DEBT Execution Input "rent_debt", "The payment is not what is owed.", "A debt is paid whole, with the catch-up fee.", "Ask get_rent for the debt, and add the fee.";
    1221 NOT_DORMANT Execution Input "not_dormant", "The actor has nothing to restore.", "It is not dormant, or it is still being pruned.", "Ask get_rent for its state.";
    1222 WRONG_CHUNK Execution Input "wrong_chunk", "The entries are not those that were pruned.", "Their hash is not the one that the chain kept.", "Send the entries of one chunk, all of them, in ascending order of keys.";
    1223 ACTOR_DORMANT Execution Forbidden "actor_dormant", "The actor is dormant.", "Its rent was not paid and its storage was pruned.", "Pay its debt and restore its storage; anybody may.";
    1224 RENT_RESERVE Execution Forbidden "rent_reserve", "The actor must keep its reserve.", "About five weeks of its rent stay with it.", "Send less, or store less.";
    1225 VALIDATOR_STAKE Execution Input "validator_stake", "The stake is below the minimum.", "Each validator stakes at least what governance says.", "Stake more; get_param tells consensus.validator_stake.";
    1226 VALIDATOR_UNKNOWN Execution Input "validator_unknown", "There is no such validator.", "Nobody registered at the address.", "Check the address, or register.";
    1227 VALIDATOR_STATE Execution Input "validator_state", "The validator cannot do that now.", "It registers once, with a network key of its own, and leaves once.", "Ask get_validator for its state.";
    1228 BAD_EVIDENCE Execution Input "bad_evidence", "The evidence proves nothing new.", "Two different headers of one round by one validator are proof, and each fault counts once.", "Show two headers that the validator signed.";
    1229 STILL_BOUND Execution Input "still_bound", "It is too early.", "The stake is bound, or the jail's time is not over.", "Ask get_validator for the height.";
    1230 GOVERNANCE_DEPOSIT Execution Input "governance_deposit", "The deposit is not the tier's.", "A proposal puts down what its tier asks for, exactly.", "Send governance.deposit_0 or governance.deposit_3 with it.";
    1231 GOVERNANCE_STAGE Execution Input "governance_stage", "The proposal is not at that stage.", "It is voted on, counted, waits, and takes effect, each in its time.", "Ask get_proposal for its stage and height.";
    1239 PARAMETER_NOT_ACTIVE Execution Input "parameter_not_active", "The parameter is not active.", "The rule that would read it does not exist yet, so moving it would change nothing.", "Look for another parameter: docs/parameters.md says which are active.";
    1240 KEY_POSSESSION Execution Input "key_possession", "A proof of possession does not hold.", "The network key and the VRF key sign the registration, for this chain and this account; keys of small order prove nothing.", "Make the proofs with `cowboyd keys registration`.";
    1245 SYSTEM_ACTOR_PAUSED Execution Forbidden "system_actor_paused", "The system actor is paused.", "The security council or a decision stopped it; until then it answers to governance only.", "Ask get_pauses of 0x09 for how long.";
    1246 PROPOSAL_ACTION Execution Input "proposal_action", "Governance cannot take this action.", "Actions are set_parameter, call, disburse, set_council, circuit_break and resume, 1 to 16 in a proposal; 0x09 itself is never paused, a paused actor is not paused again, and upgrade is not part of this chain yet.", "Propose one of these actions.";
    1301 MISSING_ENTITLEMENT Entitlement Forbidden "missing_entitlement", "The manifest does not grant this.", "An actor may do only what it declared at deployment.", "Add the entitlement and deploy again.";
    1302 ENTITLEMENT_QUOTA Entitlement Forbidden "entitlement_quota_exceeded", "A quota of the manifest is used up.", "The grant names a maximum.", "Ask for more in the manifest.";
    1303 ENTITLEMENT_PARAM Entitlement Input "entitlement_param_invalid", "A parameter of an entitlement is wrong.", "Each entitlement has a schema.", "See the entitlements page.";
    1304 ENTITLEMENT_UNKNOWN Entitlement Input "entitlement_unknown", "There is no such entitlement.", "The registry lists all.", "See the entitlements page.";
    1305 MANIFEST_INVALID Entitlement Input "manifest_invalid", "The manifest is not valid.", "It is canonical CBOR, sorted by id, without duplicates.", "Let the CLI write it from JSON.";
    1306 ACTOR_NON_EXECUTABLE Entitlement Input "actor_non_executable", "The actor is not executable.", "An entitlement it needs was removed.", "The owner deploys a new manifest.";
    1307 SYSTEM_ENTITLEMENT_UNAUTHORIZED Entitlement Input "system_entitlement_unauthorized", "The manifest asks for sys.upgrade.", "Only the system deployers that genesis names may deploy with it.", "Remove the entitlement, or ask a system deployer.";
    1308 ENTITLEMENT_DUPLICATE Entitlement Input "entitlement_duplicate", "The list names an entitlement twice.", "There is one grant an id.", "Merge the two.";
    1309 ENTITLEMENTS_UNSORTED Entitlement Input "entitlements_unsorted", "The list is not sorted.", "Grants ascend by id, so that one list has one encoding.", "Let the CLI write it from JSON.";
    1310 ATTESTATION_INVALID Entitlement Input "attestation_invalid", "The attestation is not valid.", "It is canonical CBOR with the fields of the specification, signed by the runner over keccak256 of all others, with heights in order.", "Sign it again with the runner's key.";
    1311 MANIFEST_IMMUTABLE Entitlement Input "manifest_immutable", "The actor's manifest cannot change.", "Entitlements are fixed at deployment; only an actor whose entitlement was removed gets a new manifest.", "Deploy another actor with the manifest that is needed.";
    1320 PERMISSION_NOT_FOUND Entitlement Input "permission_not_found", "There is no such record in the Entitlement Registry.", "It was never granted, was revoked, or expired.", "Check the id; `cowboy entitlement list` shows what an address holds.";
    1321 GRANT_UNAUTHORIZED Entitlement Input "grant_unauthorized", "The sender may not grant this.", "An actor's owner, the runner itself, the owner of a pool or namespace, and governance grant; a holder delegates.", "Sign as one of those.";
    1322 PERMISSION_EXISTS Entitlement Input "permission_exists", "Another issuer granted the same.", "A record has one issuer, who alone replaces it.", "Ask the issuer, or choose another name.";
    1323 TOO_MANY_PERMISSIONS Entitlement Input "too_many_permissions", "The address holds too many records.", "At most 256 stand at one address.", "Revoke some first, or use a role.";
    1324 TOO_MANY_ROLES Entitlement Input "too_many_roles", "The address has too many roles.", "At most 64 stand at one address.", "Revoke some first.";
    1325 NOT_DELEGATABLE Entitlement Input "not_delegatable", "The permission cannot be passed on.", "Its grant says so, it was passed on as often as it may, or the receiver holds it already.", "Ask the issuer for a delegatable one.";
    1326 DELEGATION_TOO_DEEP Entitlement Input "delegation_too_deep", "The chain of delegations is too long.", "At most 5 links follow a grant.", "Delegate nearer to the grant.";
    1327 CONSTRAINTS_WIDER Entitlement Input "constraints_wider", "The delegation allows more than its parent.", "Each condition must be as tight as the parent's, and it may be passed on less often.", "Narrow the conditions.";
    1328 NOT_REVOCABLE Entitlement Input "not_revocable", "The permission cannot be taken back.", "Its grant says so.", "Wait until it expires.";
    1329 PERMISSION_UNUSABLE Entitlement Input "permission_unusable", "The permission cannot be used now.", "Its span, its uses, its amounts or its rate do not allow it.", "Wait for the next window, use less, or ask for more.";
    1330 ROLE_NOT_FOUND Entitlement Input "role_not_found", "There is no such role.", "It was never made, or never assigned to the address.", "Check the id.";
    1331 CONSTRAINTS_INVALID Entitlement Input "constraints_invalid", "The conditions are not right.", "They end after they begin and in the future, count nothing yet, are delegatable where they have a depth of at most 5, and fit scope and action.", "Correct them.";
    1401 TOKEN_NOT_FOUND Token Input "token_not_found", "There is no such token.", "Nobody made it.", "Check the id; the transaction that made the token answers it.";
    1402 TOKEN_BALANCE Token Input "token_balance", "The account has fewer tokens.", "Nobody moves or destroys what is not there.", "Ask token_balance_of, and move less.";
    1403 TOKEN_ALLOWANCE Token Input "token_allowance", "The owner allowed fewer tokens.", "Others' tokens move as far as their owner approved, and each move uses that up.", "Have the owner approve more.";
    1404 TOKEN_SUPPLY Token Input "token_supply", "There would be more tokens than there may be.", "A token's most is fixed when it is made.", "Mint less.";
    1501 TIMER_IN_PAST Schedule Input "timer_in_past", "The timer's height is not in the future.", "A timer never fires in the block that makes it.", "Use a height above the current one.";
    1502 TOO_MANY_TIMERS Schedule Resource "too_many_timers", "The actor has too many timers.", "At most 1,024 live at once, or what the manifest says.", "Cancel some, or re-arm one.";
    1503 TIMER_NOT_FOUND Schedule NotFound "timer_not_found", "There is no such timer.", "It fired, expired, was cancelled, or never was.", "Check the id.";
    1504 TIMER_NOT_OWNED Schedule Forbidden "timer_not_owned", "The timer belongs to another actor.", "Only its owner may change it.", "Ask the owner.";
    1505 BAD_FEE_PAYER Schedule Forbidden "bad_fee_payer", "The payer cannot be charged.", "A timer is paid by who schedules it: an actor cannot charge anybody else, whoever signed the transaction.", "Leave fee_payer empty.";
    1506 TIMER_LIMIT Schedule Input "timer_limit", "A timer's limit is too high.", "One fire may use 550,000 cycles and cells.", "Split the work over several timers.";
    1507 TIMER_EXPIRY Schedule Input "timer_expiry", "The timer's expiry is out of range.", "It lies between its height and the longest time to live.", "Choose a nearer expiry.";
    1508 FANOUT Schedule Resource "fanout_exceeded", "Too many messages.", "A transaction and all that follows from it enqueues at most 1,024.", "Send fewer, or spread them over timers.";
    1509 MAILBOX_FULL Schedule Resource "mailbox_full", "The mailbox is full.", "It holds 1,000,000 bytes.", "Send later.";
    1510 ORIGIN_EXHAUSTED Schedule Input "origin_exhausted", "Nothing is left to pay the delivery.", "A message is paid out of what the transaction that caused it reserved.", "Raise the limits of the first transaction.";
    1511 TIMER_EXPIRED Schedule Input "timer_expired", "The timer expired unfired.", "Its last height passed.", "Choose a later expiry.";
    1512 TIMER_UNFUNDED Schedule Input "timer_unfunded", "The timer's payer could not pay.", "The most a fire can cost is charged before it runs.", "Fund the payer.";
    1513 TIMER_PAYLOAD Schedule Input "timer_payload_too_large", "The timer's payload is too large.", "It has at most 1 MiB.", "Store the data and pass its key.";
    1514 DUPLICATE_MESSAGE Schedule Input "duplicate_message", "The message was delivered already.", "Each message is delivered once.", "Nothing: it is done.";
    1515 NOT_AN_INTERVAL Schedule Input "not_an_interval", "The timer is no interval.", "It fires once, so there is nothing to resume.", "Pass the id that set_interval returned.";
    1516 TIMER_BELOW_BASE_FEE Schedule Input "timer_below_base_fee", "The timer's maximum is below the lane's base fee.", "Timers are auctioned, and one that pays less than the base fee does not fire: TimerRejectedBelowBasefee.", "Offer more, or leave the bid to the default agent.";
    1601 JOB_INVALID Job Input "job_invalid", "The job is not one that the market takes.", "A field is missing, zero, out of its range or of another type.", "See the jobs page: result_schema, bounds, max_price and timeout_blocks are always there.";
    1602 JOB_NOT_FOUND Job Input "job_not_found", "There is no such job.", "It never was, or it is over and forgotten.", "Check the id.";
    1603 JOB_ESCROW Job Input "job_escrow", "The submitter cannot pay the job.", "Price, tip and the callback's most are held at submission.", "Fund the submitter, or offer less.";
    1604 NO_CANDIDATES Job Input "no_candidates", "Too few runners can take the job.", "The mode needs more runners that are healthy, able, free and cheap enough.", "Raise max_price, ask for fewer runners, or wait.";
    1605 RUNNER_NOT_FOUND Job Input "runner_not_found", "The sender is no registered runner.", "Nothing is staked for the address.", "Register first.";
    1606 RUNNER_EXISTS Job Input "runner_exists", "The runner is registered already.", "An address is one runner.", "Use update, or stake more.";
    1607 STAKE_TOO_LOW Job Input "stake_too_low", "The stake is too low.", "A runner stakes 10,000 CBY or one and a half times its largest job, whichever is more.", "Stake more, or take smaller jobs.";
    1608 REGISTRY_FULL Job Input "registry_full", "No more runners fit the registry.", "Every selection looks at all of them, so their number is bounded.", "Wait until one leaves.";
    1609 NOT_A_MEMBER Job Input "not_a_member", "The sender is not of the job's committee.", "Only who was drawn may commit and reveal.", "Wait to be drawn.";
    1610 WRONG_PHASE Job Input "wrong_phase", "The job does not take this now.", "Commitments come first, then revelations, then challenges, each in its window.", "Look at the job's status and deadlines.";
    1611 ALREADY_DONE Job Input "already_done", "The sender did this already.", "A member commits once and reveals once.", "Nothing: it is done.";
    1612 COMMITMENT_MISMATCH Job Input "commitment_mismatch", "The result is not what was committed to.", "A commitment is keccak256(output and salt), and the salt ends with the runner's own address.", "Reveal the bytes and the salt of the commitment.";
    1613 RESULT_SIGNATURE Job Input "result_signature", "The result is not signed by the runner.", "Ed25519 over the result's bytes, by the key that the runner registered.", "Sign with the registered key.";
    1614 RESULT_TOO_LARGE Job Input "result_too_large", "The result is too long.", "A job says how many bytes it takes, at most 64 KiB.", "Return less.";
    1615 UNBONDING Job Input "unbonding", "The stake is not free yet.", "Stake that leaves can be slashed until its time is over.", "Wait until the release height.";
    1616 RUNNER_BUSY Job Input "runner_busy", "The runner has jobs under way.", "Its stake stands for them.", "Finish them first.";
    1617 MODEL_EXISTS Job Input "model_exists", "The model is published already.", "Its parts make its id.", "Use the id.";
    1618 MODEL_NOT_FOUND Job Input "model_not_found", "There is no such model.", "Nobody published it, or it was banned.", "Publish it, or name another.";
    1619 CHALLENGE_REFUSED Job Input "challenge_refused", "The result cannot be challenged so.", "The window or the dispute is over, the mode has none, the work is already being done again, there are 64 claims, or the bond is missing.", "Look at the job; put down the bond.";
    1620 ON_PROBATION Job Input "on_probation", "The runner's probation is not over.", "It fell below the least reputation.", "Wait until its end, then send a heartbeat.";
    1621 NOT_PAYABLE Job Input "not_payable", "The method takes no CBY.", "What is sent to it would be lost.", "Send no value.";
    1622 TEE_DOCUMENT Job Input "tee_document", "The document does not prove the environment.", "It must lead to a trusted root at the block's time, come from no debug environment, and begin its data with keccak256(\"cowboy-tee-key:\", runner, key).", "Fetch fresh collateral, and let the program make the document with that data.";
    1623 TEE_POLICY Job Input "tee_policy", "Nobody accepted the program.", "Governance names the measurements that count.", "Run an accepted program, or have this one accepted.";
    1624 JOB_UNSUPPORTED Job Input "job_unsupported", "The job asks for what this chain does not offer.", "Secrets and volumes need actors of the protocol that are not part of it.", "Leave out secrets, secret_refs, volumes and volume_mounts; pass what is public in the request.";
    1625 IMAGE_NOT_ALLOWED Job Input "image_not_allowed", "The container's image may not run.", "An image is named by its digest, and stands in the Container Registry unless the job requires a trusted environment.", "Name an allowed image as name@sha256:…, or set verification.tee_required.";
    1626 DELEGATION_REFUSED Job Input "delegation_refused", "The delegation is not taken.", "A runner's own stake must be a tenth of all that stands for it, and nobody delegates to one that leaves.", "Delegate less, or to another runner; get_delegation shows what is there.";
    1627 JOB_FIELD Job Input "job_field", "The job has a field that is unknown, or that stands in two places.", "Permission check, chain and runner read the same fields, each in one place.", "Leave the field out, or name it x-… for the runner alone; `cowboy job submit` and `cowboy job run` say which it is.";
    1628 JOB_TIMEOUT Job Input "job_timeout", "The job's timeout_blocks are too few for the time that its bounds allow.", "A runner that uses all of its time could not answer in time, and would be blamed for it.", "Let timeout_blocks be at least max_wall_time_ms / consensus.block_time, rounded up, and jobs.timeout_margin more; or bound the time.";
    1629 JOB_CONTRADICTION Job Input "job_contradiction", "No result can pass the job's checks.", "Bounds exclude each other, a schema admits nothing, or a text must be there and must not.", "Mend the checks: cowboy job run --local shows what a result comes to.";
    1701 NAME_INVALID Name Input "name_invalid", "That is no name.", "Each label has 3 to 64 of a-z, 0-9 and hyphens, none at an end; at most 8 labels, 237 bytes together.", "Choose another name.";
    1702 NAME_INTERNATIONAL Name Input "name_international", "Names have no letters but a to z.", "Encoded letters look like others, and people would be led astray.", "Write it with a-z and 0-9, and without two hyphens in third and fourth place.";
    1703 NAME_RESERVED Name Input "name_reserved", "The name is held by governance.", "www, api, dns, gateway, relay, node, cowboy, system and admin are the protocol's.", "Choose another name.";
    1704 NAME_TAKEN Name Input "name_taken", "The name is taken.", "It is registered, or its owner may still renew it.", "Choose another name, or wait until grace is over: quote says the stage.";
    1705 NAME_NOT_FOUND Name Input "name_not_found", "There is no such name now.", "It was never registered, it expired, or what is above it did.", "Register it.";
    1706 NAME_NOT_OWNER Name Input "name_not_owner", "The name belongs to somebody else.", "Only its owner changes it.", "Sign with the owner's key.";
    1707 NAME_FEE Name Input "name_fee", "The value does not cover the fee.", "A term is paid in advance.", "Ask quote for the fee; what is too much comes back.";
    1708 NAME_TARGET Name Input "name_target", "The actor takes no requests from outside.", "Only an actor with ingress.http in its manifest can have a name.", "Deploy it with that entitlement.";
    1709 NAME_FOREIGN_ACTOR Name Input "name_foreign_actor", "The actor is not the sender's.", "An actor's name is registered by itself or its owner.", "Sign with the key of the actor's owner.";
    1710 NAME_POLICY Name Input "name_policy", "The name above does not let the sender.", "Its policy says who makes names below it: its owner, its actor, or anybody.", "Ask its owner to make the name, or to set another policy.";
    1711 NAME_DURATION Name Input "name_duration", "The term is too short or too long.", "A name is paid at most ten years ahead.", "Choose another number of blocks.";
    1712 DOMAIN_INVALID Name Input "domain_invalid", "That is no domain that can be claimed.", "A domain is a host name in lower case with a dot in it, without port and final dot; names below cowboy.network are registered.", "Write it like shop.example.com; letters beyond a to z in their encoded form, xn--.";
    1713 DOMAIN_CLAIMED Name Input "domain_claimed", "The name claims the domain already.", "A claim counts until the name is handed on or expires.", "Set the domain's TXT record.";
    1714 DOMAIN_LIMIT Name Input "domain_limit", "The name claims too many domains.", "Governance says how many a name may claim.", "Release one.";
    1715 DOMAIN_DEPOSIT Name Input "domain_deposit", "The value does not cover the deposit of a claim.", "A claim takes room in the state until it is released.", "Send names.domain_deposit; what is too much comes back.";
    1720 UNAUTHORIZED_GATEWAY Name Input "unauthorized_gateway", "The sender is no active gateway.", "Requests from outside come in by gateways that are registered, staked, healthy and not leaving: ERR_UNAUTHORIZED_GATEWAY.", "Register and send heartbeats.";
    1721 GATEWAY_EXISTS Name Input "gateway_exists", "The gateway is registered already.", "An address is one gateway.", "Use set_endpoint or add_stake.";
    1722 GATEWAY_UNKNOWN Name Input "gateway_unknown", "The sender is no registered gateway.", "Nothing is staked for the address.", "Register first.";
    1723 GATEWAY_STAKE Name Input "gateway_stake", "The stake would be below the minimum.", "Each gateway stakes at least what governance says.", "Send more, or draw less.";
    1724 GATEWAY_STATE Name Input "gateway_state", "The gateway cannot do that now.", "It is leaving, or nothing came along.", "Unstake wholly and register again.";
    1725 GATEWAY_ENDPOINT Name Input "gateway_endpoint", "That is no place to reach a gateway at.", "An endpoint is a lower-case host name or an address, with a port.", "Write it like gw1.example.com and 443.";
    1726 INGRESS_MISSING Name Input "ingress_missing", "The actor takes no requests from outside.", "Its manifest does not have ingress.http.", "Deploy it with that entitlement.";
    1727 INGRESS_INVALID Name Input "ingress_invalid", "That is no request.", "A request has method, path, query, headers, body, host and request_id, each of its type.", "Send what a gateway makes.";
    1728 INGRESS_METHOD Name Input "ingress_method", "The actor does not accept the method here.", "Its manifest lists methods, and only those that change something are dispatched.", "Use another method.";
    1729 INGRESS_TOO_LARGE Name Input "ingress_too_large", "The body is too long.", "The actor's manifest says how long it may be.", "Send less.";
    1730 REQUEST_REPEATED Name Input "request_repeated", "The request was delivered before.", "A request id counts once.", "Nothing: it is done. Ask for its result.";
    1731 REQUEST_ID_FOREIGN Name Input "request_id_foreign", "The request's id is not made of this gateway, target and salt.", "An id is made of all three, so that no gateway can use up another's.", "Make it as 0x0F's dispatch says.";
    1900 UNAVAILABLE Other Forbidden "unavailable", "The function is not part of this chain.", "The name exists so that imports work.", "Do without it.";
    1901 INTERNAL Other Internal "internal", "The chain refused for a reason of its own.", "This is a bug.", "Report it, with the transaction's hash.";
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
