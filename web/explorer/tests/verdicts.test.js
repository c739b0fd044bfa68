import assert from "node:assert/strict";
import test from "node:test";
import { paymentSentence, payments, reasoning } from "../site/verdicts.js";
import { FAILED_JOB, JOB, jobs, logs } from "./fixture/market.js";
import { PARAMETERS } from "./fixture/node.js";

const job = (id) => jobs().find(({ job_id }) => job_id === id);
const ending = (id) => logs().find(({ name, value }) => name.startsWith("Job") && value.job_id === id);

// A share that the event does not have is nobody's: shares of the price are governed, and a dishonest member's is withheld.
test("who got what is what the event of the job's end says", () => {
  const event = { name: "JobSettled", value: { paid: 3_000_000_000n, burned: 0, treasury: 1_000_000_000n, refunded: 2_000_000_000n } };
  assert.equal(paymentSentence(payments(job(JOB), event)), "Runners 3 CBY, Burned 0 CBY, Treasury 1 CBY, Refunded 2 CBY");
  assert.equal(
    paymentSentence(payments(job(JOB), ending(JOB))),
    "Runners 1.81 CBY, Burned 0.17 CBY, Treasury 0.02 CBY, Refunded 3.99 CBY, Paid or burned earlier 0.01 CBY",
  );
  assert.equal(paymentSentence(payments(job(FAILED_JOB), ending(FAILED_JOB))), "Refunded 5.9 CBY, Paid or burned 0.1 CBY");
});

test("a job's sentences say what came of each result", () => {
  const lines = reasoning({ ...job(JOB), snapshot: "first_valid" }, new Map(PARAMETERS.map((row) => [row.name, row])));
  assert.ok(lines.includes("3 results of 3 received, 2 must agree."), lines.join("\n"));
  assert.ok(lines.includes("1 differs: valid by itself, but differs from the accepted result: no pay, −5 reputation."), lines.join("\n"));
  assert.ok(lines.includes("2 agree, so a result was accepted in block 108. The first valid of them is handed on."), lines.join("\n"));
});
