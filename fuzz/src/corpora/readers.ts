// Everything in our packages that reads untrusted JSON, for servers and browsers alike.

import { concat, fromUtf8, toBase64Url, utf8 } from '@svc/protocol/bytes'
import { decodeEnvelope } from '@svc/protocol/request-envelope'
import { parseStrictJson, StrictJsonError } from '@svc/protocol/strict-json'
import { MAX_DSSE_BYTES, openDsse } from '@svc/verifier/dsse'
import { readPinnedKeys } from '@svc/verifier/pinned-keys'
import { MAX_RECEIPT_BYTES, readReceipt } from '@svc/verifier/receipt-facts'
import { verifyBundle } from '@svc/verifier/verify-bundle'

/** Why a text is not JSON; null when it was parsed, whatever the verdict on its content. */
export type Objection = string | null

export interface JsonReader {
  name: string
  /** The text to read: the case itself, or a valid document with the case as an additional field. */
  document(text: Uint8Array): Uint8Array
  objection(document: Uint8Array): Objection | Promise<Objection>
}

/** Valid documents, as text. */
export interface Examples {
  bundle: string
  receipt: string
  keys: string
  dsse: string
}

export function strictObjection(bytes: Uint8Array): Objection {
  try {
    parseStrictJson(bytes, bytes.length)
    return null
  } catch (error) {
    if (error instanceof StrictJsonError) return error.message
    throw error
  }
}

const itself = (text: Uint8Array) => text

/** The case as the value of an unknown field, in the object that begins with `marker`. */
function fieldOf(document: string, marker = '{'): JsonReader['document'] {
  const at = document.indexOf(marker) + 1
  const [before, after] = [utf8(`${document.slice(0, at)}"x":`), utf8(`,${document.slice(at)}`)]
  return (text) => concat(before, text, after)
}

export function jsonReaders({ bundle, receipt, keys, dsse }: Examples): JsonReader[] {
  return [
    { name: 'strict reader', document: itself, objection: strictObjection },
    { name: 'envelope', document: itself, objection: envelopeObjection },
    { name: 'bundle', document: itself, objection: bundleObjection },
    { name: 'field of a bundle', document: fieldOf(bundle), objection: refusalOfBundle },
    { name: 'file of a bundle', document: fieldOf(bundle, '{"filename"'), objection: refusalOfBundle },
    {
      name: 'field of a receipt',
      document: fieldOf(receipt),
      objection: (document) => (readReceipt(document) ? null : notRead(document, MAX_RECEIPT_BYTES)),
    },
    {
      name: 'field of a DSSE envelope',
      document: fieldOf(dsse),
      objection: (document) => (openDsse(document) ? null : notRead(document, MAX_DSSE_BYTES)),
    },
    { name: 'field of a key list', document: fieldOf(keys), objection: keysObjection },
  ]
}

/** For readers that do not report the reason. */
function notRead(document: Uint8Array, maxBytes: number): string {
  return document.length > maxBytes ? `longer than ${maxBytes} bytes` : 'not read'
}

function envelopeObjection(bytes: Uint8Array): Objection {
  const decoded = decodeEnvelope(toBase64Url(bytes))
  return !decoded.ok && decoded.code === 'SIGNATURE_INVALID' ? decoded.message : null
}

async function bundleObjection(bytes: Uint8Array): Promise<Objection> {
  const { refused } = await verifyBundle([bytes])
  return refused?.code === 'not_strict_json' ? refused.why : null
}

async function refusalOfBundle(bytes: Uint8Array): Promise<Objection> {
  const { refused } = await verifyBundle([bytes])
  return refused && `${refused.code}: ${refused.why}`
}

function keysObjection(bytes: Uint8Array): Objection {
  const text = fromUtf8(bytes)
  const read = text === null ? null : readPinnedKeys(text)
  return read?.ok ? null : (read?.problem ?? 'not UTF-8')
}

/** The beginning of the objection of a reader that threw an unexpected error. */
export const CRASHED = 'crashed:'

/** The objections of each reader to each text, by its name. */
export async function readAll(examples: Examples, texts: readonly Uint8Array[]): Promise<Record<string, Objection[]>> {
  const found: Record<string, Objection[]> = {}
  for (const { name, document, objection } of jsonReaders(examples)) {
    const objections: Objection[] = []
    for (const text of texts) objections.push(await withoutCrash(async () => objection(document(text))))
    found[name] = objections
  }
  return found
}

async function withoutCrash(read: () => Promise<Objection>): Promise<Objection> {
  try {
    return await read()
  } catch (error) {
    return `${CRASHED} ${error}`
  }
}
