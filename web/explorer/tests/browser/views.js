// The addresses of the explorer that tests visit over the scripted node.

import { ALICE, COUNTER_ADDRESS, HEARTBEAT_ADDRESS, HOSTILE_ADDRESS, hashOf } from "../fixture/chain.js";
import { HOSTILE_TOKEN, TOKEN } from "../fixture/lists.js";
import { DRAWING_JOB, FAILED_JOB, HOSTILE_JOB, JOB, RUNNERS } from "../fixture/market.js";
import { systemAddress } from "../fixture/node.js";
import { SECRET, VOLUME } from "../fixture/storage.js";

/** Address → heading, and texts that must be there. */
export const VIEWS = [
  ["#/", "The chain now", ["Latest blocks", "Supply", "Heartbeat", "999,995,052.0172"]],
  ["#/block/118", "118", ["Lanes", "0xc6ba4fc4bec0d018a9cb9107425cf43153d9c93ff8fb7c8e8372d8e552950d24", "Messages, timers and callbacks"]],
  ["#/block/1", "1", ["No transaction in this block.", "genesis"]],
  [`#/tx/${hashOf("relay", 112)}`, "announce", ["Reserved for its messages", "3 messages, 2 events", "handler_raised", "spring", "Printed", "two listeners hear", "State changes", "Balance", "41", "42"]],
  [`#/tx/${hashOf("failure", 116)}`, "divide", ["ZeroDivisionError", "The handler raised an exception.", "Everything it did is undone."]],
  [`#/tx/${hashOf("reply", 112, 0)}`, "hear", ["Origin"]],
  [`#/tx/${hashOf("transfer", 111)}`, "Transfer", ["13.875"]],
  [`#/tx/${hashOf("nothing")}`, "Not found, or not yet", []],
  [`#/account/${ALICE}`, ALICE, ["4,999.123456789", "announce"]],
  [`#/account/${systemAddress("Governance")}`, "Governance", ["part of the protocol"]],
  // A grant that the registry is about to remove says so.
  [`#/actor/${HEARTBEAT_ADDRESS}`, "Heartbeat", ["An agent that wakes itself up", "Runs every few blocks", "deprecated", "Next timers"]],
  [`#/actor/${HEARTBEAT_ADDRESS}/source`, "Heartbeat", ["set_interval(EVERY"]],
  [`#/actor/${COUNTER_ADDRESS}/storage`, "Counter", ["by/000", "Show more"]],
  [`#/actor/${HEARTBEAT_ADDRESS}/timers`, "Heartbeat", ["in 1 h 23 min"]],
  [`#/actor/${HEARTBEAT_ADDRESS}/log`, "Heartbeat", ["beat"]],
  [`#/actor/${HEARTBEAT_ADDRESS}/history`, "Heartbeat", ["Timer"]],
  ["#/jobs", "Jobs", ["Settled", "Drawing", "Majority vote"]],
  [
    `#/job/${JOB}`,
    "Http, majority vote",
    [
      "Selection verified",
      "The draw with that seed gives these runners, in this order",
      "2 agree, so a result was accepted in block 108.",
      "1 differs: valid by itself",
      "no pay, −5 reputation",
      "Treasury",
      "Paid or burned earlier",
      "aggregator",
      "the page said something else",
    ],
  ],
  [`#/job/${DRAWING_JOB}`, "Http, majority vote", ["The seed of view 102, which is not known yet, selects 3 of them."]],
  [`#/job/${FAILED_JOB}`, "Http, majority vote", ["its last draw failed as well", "5 runners may not be drawn again.", "Refunded"]],
  ["#/runners", "Runners", ["Silent", "On probation", "15,000", "200,000"]],
  [`#/runner/${RUNNERS[0]}`, RUNNERS[0], ["Healthy", "50 of 200", "tdx, until 86,500", "No slash among the newest events."]],
  [`#/runner/${RUNNERS[1]}`, RUNNERS[1], ["300,000", "180,000", "up to 9 times the runner's own stake"]],
  [`#/runner/${RUNNERS[3]}`, RUNNERS[3], ["To be reviewed", "committed and never revealed", "2,500"]],
  [`#/actor/${HEARTBEAT_ADDRESS}/rights`, "Heartbeat", ["join_pool:eu", "curator", "deprecated"]],
  ["#/storage", "Storage", ["relay.example:7001", "silent", "100"]],
  [`#/volume/${VOLUME}`, "Volume", ["2+1: any 1 of 3 relays may be lost", "the committee of secrets makes them", "read and write"]],
  ["#/secrets", "Secrets", ["2: 3 of 4 have to answer", "deal, until 140", "can be drawn", "open"]],
  [`#/secret/${ALICE}/${SECRET}`, "Secret", ["released to whom its policy names", "80 B"]],
  ["#/timers", "Timers", ["report"]],
  ["#/validators", "Validators", ["100,000", "Active", "Uptime", "100%", "In jail", "until height 90,000, jailed once"]],
  ["#/parameters", "Parameters", ["Modelled heap memory of one call"]],
  ["#/blocks", "Blocks", ["Blocks with receipts", "CSV", "Show more"]],
  ["#/transactions", "Transactions", ["CSV", "Show more"]],
  ["#/actors", "Actors", ["Heartbeat", "Counter", "Active"]],
  ["#/accounts", "Accounts", ["4,999.123456789"]],
  ["#/tokens", "Tokens", ["Prairie gold", "12,345,678,901,234,567,890.12"]],
  [`#/token/${TOKEN}`, "Prairie gold", ["unlimited", "617,283,945.06", "Transfer", "Mint"]],
  ["#/names", "Names", ["heartbeat.gw.example.com", "heart.localhost:8080"]],
  ["#/governance", "Governance", ["Set economics.faucet to 7", "Call decide_challenge of Result Verifier", "No job is disputed.", "7 of 9 must agree", "Timers are auctioned.", "stops before it"]],
  ["#/proposal/0", "Set economics.faucet to 7", ["1 validator", "Succeeds", "parameter.moved", "For cancelling it"]],
  [`#/actor/${HEARTBEAT_ADDRESS}/rent`, "Heartbeat", ["the end of epoch 19", "this is epoch 7", "cowboy rent pay"]],
  [`#/actor/${COUNTER_ADDRESS}/rent`, "Counter", ["Dormant", "How to restore it", "cowboy rent restore"]],
  ["#/search/he", "Search results", ["heartbeat", "Heartbeat", "heard"]],
  ["#/search/nonsense", "Nothing found", ["nonsense"]],
];

/** Addresses of what a stranger made, and of what there is not. */
export const OTHERS = [
  ...["", "/source", "/storage", "/timers", "/rent", "/log", "/query", "/history"].map((tab) => `#/actor/${HOSTILE_ADDRESS}${tab}`),
  `#/actor/${HEARTBEAT_ADDRESS}/query`,
  "#/transactions/",
  `#/token/${HOSTILE_TOKEN}`,
  `#/job/${HOSTILE_JOB}`,
  `#/runner/${RUNNERS[4]}`,
  "#/proposal/2",
  `#/search/${"nobody".repeat(30)}`,
  `#/job/${"12".repeat(90)}`,
  `#/block/${"9".repeat(80)}`,
];
