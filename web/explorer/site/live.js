// The chain as it moves: new blocks over the node's WebSocket, by polling where there is none, through restarts and
// reverts.
//
// Events: "block" (detail: a block summary, or { height } when polled), "revert" (the chain went back or is another one),
// "state" (detail: "connecting" | "live" | "polling" | "offline").

import { ApiError, find, get } from "./api.js";
import { parseJson } from "./json.js";

const POLL_MS = 2_000;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 10_000;
const MAX_MESSAGE_CHARACTERS = 1_000_000;

export class Live extends EventTarget {
  constructor() {
    super();
    this.state = "connecting";
    /** The newest block that was seen: { height, hash }, hash null where it was only polled. */
    this.tip = null;
    this.retry = FIRST_RETRY_MS;
  }

  /** Begins. Called once. */
  start() {
    this.connect();
    this.poll();
    // A page that comes back to the front looks at once instead of waiting out its retry.
    document.addEventListener("visibilitychange", () => !document.hidden && this.look());
    window.addEventListener("online", () => this.look());
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.socket = new WebSocket(`${scheme}://${location.host}/ws`);
    /** The height of the last notice on this socket. */
    this.heard = null;
    this.socket.addEventListener("open", () => {
      this.retry = FIRST_RETRY_MS;
      this.socket.send('{"subscribe":["block"]}');
      this.become("live");
      this.look();
      this.recognize();
    });
    this.socket.addEventListener("message", ({ data }) => this.hear(data));
    this.socket.addEventListener("close", () => {
      if (!document.hidden) this.look();
      setTimeout(() => this.connect(), this.retry * (0.75 + Math.random() / 2));
      this.retry = Math.min(LAST_RETRY_MS, this.retry * 2);
    });
  }

  hear(data) {
    if (typeof data !== "string" || data.length > MAX_MESSAGE_CHARACTERS) return;
    let notice;
    try {
      notice = parseJson(data);
    } catch {
      return;
    }
    if (notice?.type === "lagged") this.look();
    if (notice?.type !== "block" || !Number.isSafeInteger(notice.block?.height)) return;
    const { block } = notice;
    const isRevert = this.heard !== null && block.height <= this.heard;
    this.heard = block.height;
    if (isRevert) this.goBack(block);
    else if (this.tip === null || block.height > this.tip.height) this.advance(block);
    else if (block.height === this.tip.height) this.tip.hash ??= block.hash;
    // A notice may be slower than the answer to a question, so a lower one alone proves nothing.
    else this.look();
  }

  async poll() {
    if (!document.hidden && this.socket?.readyState !== WebSocket.OPEN) await this.look();
    setTimeout(() => this.poll(), POLL_MS);
  }

  /** Asks for the height now. An answer below what was known before the question means that the chain went back. */
  async look() {
    const known = this.tip?.height ?? 0;
    try {
      const { height } = await get("/height");
      if (this.socket?.readyState !== WebSocket.OPEN) this.become("polling");
      if (height < known && this.tip.height >= known) this.goBack({ height });
      else if (height > (this.tip?.height ?? -1)) this.advance({ height });
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      if (problem.status === 0 || problem.status >= 500) this.become("offline");
    }
  }

  /** Whether the chain after a reconnection is the one from before: it may have gone back and on, or be another. */
  async recognize() {
    const hash = this.tip?.hash;
    if (!hash) return;
    try {
      if ((await find(`/block/${hash}`)) === null) this.goBack(await get("/height"));
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
    }
  }

  advance({ height, hash = null, ...rest }) {
    this.tip = { height, hash };
    this.say("block", { height, hash, ...rest });
  }

  goBack({ height, hash = null }) {
    this.tip = { height, hash };
    this.say("revert", { height, hash });
  }

  become(state) {
    if (this.state === state) return;
    this.state = state;
    this.say("state", state);
  }

  say(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
