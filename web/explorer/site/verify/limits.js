// What a gateway may send to the page that verifies, and how long it may take.

/** Bytes of an answer with its proofs: as many as the verifier reads (core/ingress). */
export const MAX_WITNESS_BYTES = 64 * 1024 * 1024;

/** Letters of the header with what the gateway signed; of a true one far fewer. */
export const MAX_SIGNATURE = 4_096;

/** Until the gateway's answer is all here. */
export const ASK_MS = 30_000;

/** Until the answer is checked, the actor's code included. */
export const CHECK_MS = 60_000;

/** Letters of the body, of a header, and of a reason that the page shows. */
export const SHOWN = { body: 100_000, header: 1_000, reason: 500 };

/** Headers that the page shows. */
export const MAX_HEADERS = 100;
