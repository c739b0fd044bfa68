// The node's HTTP API: requests, and answers that are never larger than the page can bear.

import { clip } from "./format.js";
import { parseJson, printJson } from "./json.js";

const TIMEOUT_MS = 15_000;
const MAX_ANSWER_CHARACTERS = 32_000_000;

/** Why a request has no answer: what happened, why, and what to do, as the node says it. `status` 0: no node answered. */
export class ApiError extends Error {
  constructor(status, body) {
    super(text(body?.what) ?? (status === 0 ? "The node does not answer." : `The node answered ${status}.`));
    this.status = status;
    this.slug = text(body?.slug);
    this.code = body?.code;
    this.category = text(body?.category);
    this.why = text(body?.why);
    this.fix = text(body?.fix);
    this.context = body?.context ?? null;
  }

  /** Whether the thing asked for does not exist (yet). */
  get isMissing() {
    return this.status === 404;
  }
}

function text(value) {
  return typeof value === "string" ? clip(value, 2_000) : undefined;
}

/** GET of a path like `/height`. */
export function get(path, signal) {
  return request("GET", path, undefined, signal);
}

/** POST of a JSON body. */
export function post(path, body, signal) {
  return request("POST", path, body, signal);
}

/** GET that answers null for what does not exist. */
export async function find(path, signal) {
  try {
    return await get(path, signal);
  } catch (problem) {
    if (problem instanceof ApiError && [400, 404].includes(problem.status)) return null;
    throw problem;
  }
}

async function request(method, path, body, signal) {
  // A browser takes them for folders, also when they are encoded, and would ask for something else.
  if (path.split(/[/?]/).some((part) => part === "." || part === "..")) throw new ApiError(404, { what: "Nothing has such a name.", why: `The request was ${path}.` });
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const options = {
    method,
    headers: { accept: "application/json" },
    cache: "no-store",
    signal: signal ? either(signal, timeout) : timeout,
  };
  if (body !== undefined) {
    options.headers["content-type"] = "application/json";
    options.body = printJson(body);
  }
  let response;
  let answer;
  try {
    response = await fetch(path, options);
    answer = await response.text();
  } catch (problem) {
    if (signal?.aborted) throw problem;
    throw new ApiError(0, {
      why: "It may be restarting, or this page may have lost its connection.",
      fix: "The page retries automatically.",
    });
  }
  if (answer.length > MAX_ANSWER_CHARACTERS) throw new ApiError(response.status, { what: "The answer is too large to show." });
  const value = parsed(answer);
  if (!response.ok) throw new ApiError(response.status, value?.error ?? value);
  if (value === undefined)
    throw new ApiError(response.status, { what: "The node's answer is not JSON.", why: `The request was ${path}.` });
  return value;
}

function parsed(answer) {
  try {
    return parseJson(answer);
  } catch {
    return undefined;
  }
}

function either(first, second) {
  if (AbortSignal.any) return AbortSignal.any([first, second]);
  const controller = new AbortController();
  for (const signal of [first, second]) {
    if (signal.aborted) controller.abort(signal.reason);
    signal.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
  }
  return controller.signal;
}

/** Runs `work` on each item, a few at a time, in order of the answers' places. */
export async function each(items, work, width = 6) {
  const answers = new Array(items.length);
  let next = 0;
  const run = async () => {
    while (next < items.length) {
      const at = next;
      next += 1;
      answers[at] = await work(items[at], at);
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, run));
  return answers;
}
