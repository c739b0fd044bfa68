// Keeping a view up to date while the chain moves.

const PAUSE_MS = 800;

/**
 * Runs `refresh` after each block, never twice at once and with a pause between: blocks may come many a second. A page in
 * the background waits until it is looked at. `every`: also after so many milliseconds without a block.
 */
export function follow(live, signal, refresh, { pause = PAUSE_MS, every } = {}) {
  let isBusy = false;
  let isDue = false;
  const run = async () => {
    isDue = true;
    if (isBusy) return;
    isBusy = true;
    while (isDue && !document.hidden && !signal.aborted) {
      isDue = false;
      await attempt(refresh, signal);
      await new Promise((resume) => setTimeout(resume, pause));
    }
    isBusy = false;
  };
  live.addEventListener("block", run, { signal });
  document.addEventListener("visibilitychange", () => isDue && run(), { signal });
  if (every) {
    const timer = setInterval(run, every);
    signal.addEventListener("abort", () => clearInterval(timer));
  }
}

async function attempt(refresh, signal) {
  try {
    await refresh();
  } catch (problem) {
    // A node that is away says so in the notice; the page keeps what it has.
    if (!signal.aborted && problem.status === undefined) console.error(problem);
  }
}
