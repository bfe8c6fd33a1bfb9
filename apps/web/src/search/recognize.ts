// Recognizes ids, transactions and digests of a gateway in a text, which may be an address or a sentence.

export type Kind = 'receipt' | 'locker' | 'payment' | 'evmTransaction' | 'transaction' | 'digest'

export interface Recognized {
  kind: Kind
  value: string
}

/** In this order: an id in an address is more specific than other matches. */
const PATTERNS: readonly [Kind, RegExp][] = [
  ['receipt', /\brcpt_[0-9a-f]{32}\b/],
  ['payment', /\bpr_[0-9a-f]{32}\b/],
  ['locker', /\blocker_[0-9a-f]{12}\b/],
  ['evmTransaction', /\b0x[0-9a-f]{64}\b/],
  ['digest', /\b[0-9a-f]{64}\b/],
]
/** 64 bytes in case-sensitive base58. */
const SIGNATURE = /(?<![1-9A-HJ-NP-Za-km-z])[1-9A-HJ-NP-Za-km-z]{80,88}(?![1-9A-HJ-NP-Za-km-z])/

export function recognize(text: string): Recognized | null {
  const lower = text.toLowerCase()
  for (const [kind, pattern] of PATTERNS) {
    const value = pattern.exec(lower)?.[0]
    if (value) return { kind, value }
  }
  const value = SIGNATURE.exec(text)?.[0]
  return value ? { kind: 'transaction', value } : null
}
