import { paymentReference } from '@svc/protocol/ids'

/** A payment reference, or the plain id of a quote, which older clients use. */
const REFERENCE = /(?:ref|pr)_[0-9a-f]{32}/g

// A one-byte encoding keeps ASCII intact whatever surrounds it; UTF-8 would not.
const oneByte = new TextDecoder('latin1')

/** Every reference to a quote in a memo or in calldata, once each, in order (ADD-03). */
export function findReferences(...sources: (string | Uint8Array)[]): string[] {
  const texts = sources.map((source) => (typeof source === 'string' ? source : oneByte.decode(source)))
  return [...new Set(texts.flatMap((text) => text.match(REFERENCE) ?? []))]
}

/** Whether all references in a transaction name one of these quotes. */
export function nameOnly(payReqIds: readonly string[], references: readonly string[]): boolean {
  if (references.length === 0) return true
  const names = new Set(payReqIds.flatMap((id) => [id, paymentReference(id)]))
  return references.every((reference) => names.has(reference))
}
