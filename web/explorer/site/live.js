// The chain as it moves: new blocks over the node's WebSocket, by polling where there is none, through restarts and
// reverts.
//
// Events: "block" (detail: a block summary, or { height } when polled), "revert" (the chain went back or is another one),
// "state" (detail: "connecting" | "live" | "polling" | "offline").

import { ApiError, get } from "./api.js";
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
    this.socket.addEventListener("open", () => {
      this.retry = FIRST_RETRY_MS;
      this.socket.send('{"subscribe":["block"]}');
      this.become("live");
      this.look();
    });
    this.socket.addEventListener("message", ({ data }) => this.hear(data));
    this.socket.addEventListener("close", () => {
      this.look();
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
    if (notice?.type === "block" && Number.isSafeInteger(notice.block?.height)) this.meet(notice.block);
    if (notice?.type === "lagged") this.look();
  }

  async poll() {
    if (this.socket?.readyState !== WebSocket.OPEN) await this.look();
    setTimeout(() => this.poll(), POLL_MS);
  }

  /** Asks for the height now. */
  async look() {
    try {
      const { height } = await get("/height");
      if (this.socket?.readyState !== WebSocket.OPEN) this.become("polling");
      this.meet({ height });
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      if (problem.status === 0 || problem.status >= 500) this.become("offline");
    }
  }

  meet(block) {
    const before = this.tip;
    const hash = block.hash ?? null;
    if (before && block.height === before.height) {
      const isOther = hash !== null && before.hash !== null && hash !== before.hash;
      if (hash !== null) before.hash = hash;
      if (isOther) this.say("revert", block);
      return;
    }
    this.tip = { height: block.height, hash };
    this.say(before && block.height < before.height ? "revert" : "block", block);
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
