// Lists in JSON: of signatures, URLs, strings, encoded bytes and proofs, recognized entry by entry.

import { toHex, utf8 } from '@svc/protocol/bytes'
import type { Corpora, SignatureCase } from '../cases.ts'
import { type CorpusFile, type Fields, hex } from './file.ts'
import { addTexts } from './lines.ts'
import { addTree, isTree } from './trees.ts'

export function addList({ name, unread }: CorpusFile, entries: readonly unknown[], corpora: Corpora): void {
  // A list of URLs has comments between them.
  const isOfUrls = entries.some(isUrl)
  let unknown = 0
  for (const [i, entry] of entries.entries()) {
    if (isOfUrls && typeof entry === 'string') continue
    if (!addEntry(`${name} ${i}`, entry, corpora)) unknown++
  }
  if (entries.length === 0) unread('an empty list')
  if (unknown > 0) unread(`${unknown} entries in an unknown format`)
}

function addEntry(name: string, entry: unknown, corpora: Corpora): boolean {
  if (typeof entry === 'string') addTexts([{ name, text: entry }], corpora)
  else if (Array.isArray(entry)) return addEncoding(name, entry, corpora)
  else if (isUrl(entry)) addUrl(name, entry, corpora)
  else if (isTree(Object(entry))) addTree(name, Object(entry), corpora)
  else {
    const signature = signatureCase(name, Object(entry))
    if (!signature) return false
    corpora.ed25519.push(signature)
  }
  return true
}

interface UrlEntry {
  input: string
  base?: string | null
  href?: string
  failure?: boolean
}

/** The form of the URL standard's tests. */
function isUrl(entry: unknown): entry is UrlEntry {
  const { input, href, failure } = Object(entry) as Fields
  return typeof input === 'string' && (typeof href === 'string' || failure === true)
}

/**
 * The result of a relative URL is a separate case. Hosts are mostly tried with http, which is rejected for that alone.
 */
function addUrl(name: string, { input, base, href, failure }: UrlEntry, { urls }: Corpora): void {
  const isAlone = base === undefined || base === null
  // A URL with a base may fail only because of its base.
  if (isAlone) urls.push({ name, url: input, href: failure === true ? null : (href as string) })
  else urls.push({ name, url: input })
  if (!isAlone && href !== undefined) urls.push({ name: `${name} resolved`, url: href, href })
  const secure = input.replace(/^http:/i, 'https:')
  if (secure !== input) urls.push({ name: `${name} over https`, url: secure })
}

/** `[hex, base58]`, or `[base64, bytes or null]`. */
function addEncoding(name: string, entry: readonly unknown[], { encodings }: Corpora): boolean {
  const [first, second, ...rest] = entry
  if (typeof first !== 'string' || rest.length > 0) return false
  const bytes = typeof second === 'string' ? hex(first) : null
  if (bytes) encodings.push({ name, encoding: 'base58', text: second as string, bytes: toHex(bytes) })
  else if (second === null) encodings.push({ name, encoding: 'base64', text: first, bytes: null })
  else if (Array.isArray(second) && second.every((byte) => Number.isInteger(byte) && byte >= 0 && byte < 256))
    encodings.push({ name, encoding: 'base64', text: first, bytes: toHex(Uint8Array.from(second)) })
  else return false
  return true
}

/** With the fields of C2SP/CCTV, where messages are text, or of ed25519-speccheck, where they are hex. */
function signatureCase(name: string, vector: Fields): SignatureCase | null {
  const { key, sig, msg, flags, pub_key, signature, message } = vector
  if (typeof msg === 'string')
    return built(name, { publicKey: hex(key), signature: hex(sig), message: utf8(msg) }, validByFlags(flags))
  return built(name, { publicKey: hex(pub_key), signature: hex(signature), message: hex(message) }, null)
}

/**
 * Flags that our rule rejects. The other flags name small-order components, which change nothing when the equation
 * holds.
 */
const REFUSED_FLAGS = ['low_order_A', 'low_order_R', 'non_canonical_A', 'non_canonical_R', 'low_order_residue']
const OTHER_FLAGS = ['low_order_component_A', 'low_order_component_R', 'reencoded_k']

/** Without small-order residue the equation holds in every vector of the corpus. Null for an unknown flag. */
function validByFlags(flags: unknown): boolean | null {
  const given: unknown[] = Array.isArray(flags) ? flags : []
  if (!given.every((flag) => [...REFUSED_FLAGS, ...OTHER_FLAGS].includes(flag as string))) return null
  return !given.some((flag) => REFUSED_FLAGS.includes(flag as string))
}

type Parts = Record<'publicKey' | 'message' | 'signature', Uint8Array | null>

export function built(
  name: string,
  { publicKey, message, signature }: Parts,
  isValid: boolean | null,
): SignatureCase | null {
  return publicKey && message && signature ? { name, publicKey, message, signature, isValid } : null
}
