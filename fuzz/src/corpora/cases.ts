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
  /** Of the private key, where the corpus has it: our signature must be the same. */
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

/** A double by its bits, in hex, and how it is written. */
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
  /** What it is read as; null where it must be refused, undefined where the corpus does not say. */
  href?: string | null
}

/** A text and its bytes in hex, null where it must be refused. */
export interface EncodingCase {
  name: string
  encoding: 'base58' | 'base64'
  text: string
  bytes: string | null
}

/** A proof of a tree after RFC 6962. Hashes are hex. */
export interface TreeCase {
  name: string
  claim:
    | { index: number; size: number; leaf: string; root: string }
    | { earlier: { size: number; root: string }; later: { size: number; root: string } }
  proof: string[]
  /** Null where the corpus does not say, or implementations differ. */
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
  /** Files, and parts of files, that hold nothing that is read here, and why. */
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

/** What one kind of reader made of its cases. */
export interface Outcome {
  /** What was read, a comma, and by what. */
  kind: string
  cases: number
  held: number
  /** At least one line for each case that did not hold. */
  problems: string[]
  /** What to know about those that held. */
  notes: string[]
}
