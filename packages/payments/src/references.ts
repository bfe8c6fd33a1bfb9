const PAY_REQ_ID = /pr_[0-9a-f]{32}/g

// Any one-byte encoding will do: it leaves ASCII in its place whatever stands around it, as UTF-8 would not.
const oneByte = new TextDecoder('latin1')

/** Every `pay_req_id` in a memo or in calldata, each once, in order (ADD-03). */
export function findReferences(...sources: (string | Uint8Array)[]): string[] {
  const texts = sources.map((source) => (typeof source === 'string' ? source : oneByte.decode(source)))
  return [...new Set(texts.flatMap((text) => text.match(PAY_REQ_ID) ?? []))]
}
