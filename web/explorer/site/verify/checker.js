// The verifier in a thread of its own, so that the page lives on while it works, and can end it.

/** Starts the verifier from the bytes of its file. Answers { check(asked, signal), end() }; a check fails where the signal comes first, and continues until `end`. */
export async function checker(file) {
  const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  const call = (message, signal) =>
    new Promise((resume, refuse) => {
      const leave = () => refuse(signal.reason);
      signal?.addEventListener("abort", leave, { once: true });
      const settled = (settle, value) => {
        signal?.removeEventListener("abort", leave);
        settle(value);
      };
      worker.onmessage = ({ data }) => (data.problem === undefined ? settled(resume, data.result) : settled(refuse, new Error(data.problem)));
      worker.onerror = () => settled(refuse, new Error("The verifier does not start in this browser."));
      worker.postMessage(message);
    });
  await call({ file });
  return { end: () => worker.terminate(), check: (asked, signal) => call({ asked }, signal) };
}
