// The thread of the verifier: it may take long, and the page ends it then.

import { load } from "./verifier.js";

let verifier;

/** Takes the verifier's file first, then what to check, one after the other. */
async function answer({ file, asked }) {
  if (file) verifier = await load(file);
  return asked ? verifier.check(asked) : null;
}

self.addEventListener("message", ({ data }) => {
  answer(data).then(
    (result) => self.postMessage({ result }),
    (problem) => self.postMessage({ problem: String(problem?.message ?? problem) }),
  );
});
