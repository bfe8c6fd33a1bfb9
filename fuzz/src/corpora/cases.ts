// The cases of outside corpora, whatever file they came in.

/** `y_…` must be parsed, `n_…` refused, `i_…` either. */
export interface JsonCase {
  name: string
  bytes: Uint8Array
}

export interface SignatureCase {
  name: string
  publicKey: Uint8Array
  message: Uint8Array
  signature: Uint8Array
  /** What the corpus says our rule must say; null where it says nothing. */
  isValid: boolean | null
}

export interface Corpora {
  json: JsonCase[]
  ed25519: SignatureCase[]
  /** Files, and parts of files, that hold nothing that is read here, and why. */
  unread: string[]
}

/** What one kind of reader made of its cases. */
export interface Outcome {
  kind: string
  cases: number
  /** One line for each case that did not hold. */
  problems: string[]
  /** What to know about those that held. */
  notes: string[]
}
