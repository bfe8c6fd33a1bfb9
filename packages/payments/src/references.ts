const PAY_REQ_ID = /pr_[0-9a-f]{32}/g

// A one-byte encoding keeps ASCII intact whatever surrounds it; UTF-8 would not.
const oneByte = new TextDecoder('latin1')

/** Every `pay_req_id` in a memo or in calldata, each once, in order (ADD-03). */
export function findReferences(...sources: (string | Uint8Array)[]): string[] {
  const texts = sources.map((source) => (typeof source === 'string' ? source : oneByte.decode(source)))
  return [...new Set(texts.flatMap((text) => text.match(PAY_REQ_ID) ?? []))]
}
