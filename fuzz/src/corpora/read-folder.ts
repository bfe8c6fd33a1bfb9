// A folder of outside corpora → cases. Files are recognised by what is in them.

import { readdir, readFile } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { fromBase64, fromHex, fromUtf8, utf8 } from '@svc/protocol/bytes'
import type { Corpora, SignatureCase } from './cases.ts'

const JSON_CASE = /^[yni]_/

type Fields = Record<string, unknown>
type Unread = (why: string) => void

export async function readCorpora(folder: string): Promise<Corpora> {
  const corpora: Corpora = { json: [], ed25519: [], unread: [] }
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  for (const file of files.sort()) addFile(corpora, relative(folder, file), await readFile(file))
  return corpora
}

function addFile(corpora: Corpora, path: string, bytes: Uint8Array): void {
  const unread = (why: string) => void corpora.unread.push(`${path}: ${why}`)
  const document = parsed(bytes)
  const fields = Object(document) as Fields
  if (JSON_CASE.test(basename(path))) corpora.json.push({ name: path, bytes })
  else if (document === undefined) unread('not JSON')
  else if (Array.isArray(document)) addSignatures(path, document, corpora, unread)
  else if (Array.isArray(fields.testGroups)) addWycheproof(path, fields, corpora, unread)
  else addTexts(fields, corpora, unread)
}

function addTexts(fields: Fields, { json }: Corpora, unread: Unread): void {
  const texts = Object.entries(fields).filter(([name]) => JSON_CASE.test(name))
  if (texts.length === 0) unread('neither JSON texts nor signatures')
  for (const [name, text] of texts) {
    const bytes = typeof text === 'string' ? fromBase64(text) : null
    if (bytes) json.push({ name, bytes })
    else unread(`${name} is not base64`)
  }
  const others = Object.keys(fields).length - texts.length
  if (texts.length > 0 && others > 0) unread(`${others} entries whose names begin with none of y_, n_ and i_`)
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(fromUtf8(bytes) ?? '')
  } catch {
    return undefined
  }
}

function addSignatures(path: string, vectors: readonly unknown[], { ed25519 }: Corpora, unread: Unread): void {
  const read = vectors.map((vector, i) => signatureCase(`${path} ${i}`, Object(vector)))
  ed25519.push(...read.filter((one) => one !== null))
  const others = read.filter((one) => one === null).length
  if (others > 0) unread(`${others} entries that are no Ed25519 signatures`)
}

/** In the fields of C2SP/CCTV, where messages are text, or of ed25519-speccheck, where they are hex. */
function signatureCase(name: string, vector: Fields): SignatureCase | null {
  const { key, sig, msg, flags, pub_key, signature, message } = vector
  if (typeof msg === 'string')
    return built(name, { publicKey: hex(key), signature: hex(sig), message: utf8(msg) }, validByFlags(flags))
  return built(name, { publicKey: hex(pub_key), signature: hex(signature), message: hex(message) }, null)
}

/** What our rule refuses. The other flags name small-order components, which change nothing where the equation holds. */
const REFUSED_FLAGS = ['low_order_A', 'low_order_R', 'non_canonical_A', 'non_canonical_R', 'low_order_residue']
const OTHER_FLAGS = ['low_order_component_A', 'low_order_component_R', 'reencoded_k']

/** Without small-order residue the equation holds in every vector of the corpus. Null where a flag is not known. */
function validByFlags(flags: unknown): boolean | null {
  const given: unknown[] = Array.isArray(flags) ? flags : []
  if (!given.every((flag) => [...REFUSED_FLAGS, ...OTHER_FLAGS].includes(flag as string))) return null
  return !given.some((flag) => REFUSED_FLAGS.includes(flag as string))
}

function addWycheproof(path: string, { algorithm, testGroups }: Fields, { ed25519 }: Corpora, unread: Unread): void {
  const groups = (testGroups as unknown[]).map((group) => Object(group) as Fields)
  const others = new Map<string, number>()
  for (const { publicKey, key, tests } of groups) {
    const { pk, curve } = Object(publicKey ?? key) as Fields
    const listed: unknown[] = Array.isArray(tests) ? tests : []
    const made = curve === 'edwards25519' ? listed.map((test) => wycheproofCase(path, pk, Object(test))) : []
    const read = made.filter((one) => one !== null)
    ed25519.push(...read)
    const kind = `${String(algorithm)} on ${String(curve)}`
    others.set(kind, (others.get(kind) ?? 0) + listed.length - read.length)
  }
  for (const [kind, count] of others) if (count > 0) unread(`${count} tests of ${kind}, which nothing here verifies`)
}

function wycheproofCase(path: string, pk: unknown, { tcId, msg, sig, result }: Fields): SignatureCase | null {
  const isValid = result === 'valid' ? true : result === 'invalid' ? false : null
  return built(`${path} ${String(tcId)}`, { publicKey: hex(pk), message: hex(msg), signature: hex(sig) }, isValid)
}

function hex(text: unknown): Uint8Array | null {
  return typeof text === 'string' ? fromHex(text.toLowerCase()) : null
}

type Parts = Record<'publicKey' | 'message' | 'signature', Uint8Array | null>

function built(name: string, { publicKey, message, signature }: Parts, isValid: boolean | null): SignatureCase | null {
  return publicKey && message && signature ? { name, publicKey, message, signature, isValid } : null
}
