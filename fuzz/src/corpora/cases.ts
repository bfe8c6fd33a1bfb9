// The cases of external corpora, in a common form.

/** `y_…` must be parsed, `n_…` rejected, `i_…` either. */
export interface JsonCase {
  name: string
  bytes: Uint8Array
}

export interface SignatureCase {
  name: string
  publicKey: Uint8Array
  message: Uint8Array
  signature: Uint8Array
  /** The outcome that the corpus requires of our rule; null when it requires none. */
  isValid: boolean | null
  /** Hex of the private key, if the corpus has it: our signature must be the same. */
  seed?: Uint8Array
}

/** ECDSA on secp256k1 over the SHA-256 of a message. Bytes are hex. */
export interface EcdsaCase {
  name: string
  /** Uncompressed. */
  publicKey: string
  message: string
  signature: string
  form: 'DER' | 'P1363'
  isValid: boolean | null
}

/** A JSON text and its canonical form (RFC 8785), both base64. */
export interface CanonicalCase {
  name: string
  input: string
  output: string
}

/** A double by its bits, in hex, and its text. */
export interface NumberCase {
  name: string
  bits: string
  text: string
}

/** Any text. */
export interface TextCase {
  name: string
  text: string
}

export interface UrlCase {
  name: string
  url: string
  /** The expected reading; null when it must be rejected, undefined when the corpus does not state it. */
  href?: string | null
}

/** A text and its bytes in hex, null when it must be rejected. */
export interface EncodingCase {
  name: string
  encoding: 'base58' | 'base64'
  text: string
  bytes: string | null
}

/** A proof of a tree of RFC 6962. Hashes are hex. */
export interface TreeCase {
  name: string
  claim:
    | { index: number; size: number; leaf: string; root: string }
    | { earlier: { size: number; root: string }; later: { size: number; root: string } }
  proof: string[]
  /** Null when the corpus does not state it, or implementations differ. */
  holds: boolean | null
}

export interface Cases {
  json: JsonCase
  ed25519: SignatureCase
  secp256k1: EcdsaCase
  canonical: CanonicalCase
  numbers: NumberCase
  texts: TextCase
  urls: UrlCase
  encodings: EncodingCase
  trees: TreeCase
}

export type Kind = keyof Cases

export const KINDS: Record<Kind, string> = {
  json: 'JSON texts',
  ed25519: 'Ed25519 signatures',
  secp256k1: 'secp256k1 signatures',
  canonical: 'canonical JSON documents',
  numbers: 'numbers',
  texts: 'strings',
  urls: 'URLs',
  encodings: 'encoded bytes',
  trees: 'tree proofs',
}

export type Corpora = { [K in Kind]: Cases[K][] } & {
  /** Files, and parts of files, without usable cases, and the reason. */
  unread: string[]
}

export function emptyCorpora(): Corpora {
  return {
    json: [],
    ed25519: [],
    secp256k1: [],
    canonical: [],
    numbers: [],
    texts: [],
    urls: [],
    encodings: [],
    trees: [],
    unread: [],
  }
}

/** The result of one kind of reader with its cases. */
export interface Outcome {
  /** What was read, a comma, and the reader. */
  kind: string
  cases: number
  passed: number
  /** At least one line for each failed case. */
  problems: string[]
  /** Remarks about the passed cases. */
  notes: string[]
}
