// Bodies of responses whose sender is not trusted: read only as far as they may be long.

/** The bytes of a response. Ends the response and throws where there are more than `limit`. */
export async function readBounded(response, limit) {
  const parts = [];
  let length = 0;
  const reader = response.body?.getReader();
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > limit) {
      reader.cancel().catch(() => {});
      throw new Error(`The answer has more than ${limit.toLocaleString("en")} bytes, which is the limit.`);
    }
    parts.push(value);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
