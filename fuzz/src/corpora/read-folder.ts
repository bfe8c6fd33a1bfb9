// A folder of outside corpora → cases. Files are recognised by what is in them.

import { readdir, readFile } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { fromBase64, fromHex, fromUtf8, utf8 } from '@svc/protocol/bytes'
import type { Corpora, SignatureCase } from './cases.ts'

const JSON_CASE = /^[yni]_/

export async function readCorpora(folder: string): Promise<Corpora> {
  const corpora: Corpora = { json: [], ed25519: [], unread: [] }
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  for (const file of files.sort()) addFile(corpora, relative(folder, file), await readFile(file))
  return corpora
}

function addFile(corpora: Corpora, path: string, bytes: Uint8Array): void {
  if (JSON_CASE.test(basename(path))) return void corpora.json.push({ name: path, bytes })
  const document = parsed(bytes)
  const unread = (why: string) => void corpora.unread.push(`${path}: ${why}`)
  if (document === undefined) return unread('not JSON')
  if (Array.isArray(document)) return addAll(path, document, corpora, unread)
  const fields = Object(document) as Record<string, unknown>
  if (Array.isArray(fields.testGroups)) return addWycheproof(path, fields, corpora, unread)
  const texts = Object.entries(fields).filter(([name]) => JSON_CASE.test(name))
  if (texts.length === 0) return unread('neither JSON texts nor signatures')
  for (const [name, text] of texts) {
    const bytes = typeof text === 'string' ? fromBase64(text) : null
    if (bytes) corpora.json.push({ name, bytes })
    else unread(`${name} is not base64`)
  }
  const others = Object.keys(fields).length - texts.length
  if (others > 0) unread(`${others} entries whose names begin with none of y_, n_ and i_`)
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(fromUtf8(bytes) ?? '')
  } catch {
    return undefined
  }
}

type Unread = (why: string) => void
type Fields = Record<string, unknown>

function addAll(path: string, vectors: readonly unknown[], { ed25519 }: Corpora, unread: Unread): void {
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
  for (const [i, { publicKey, key, tests }] of groups.entries()) {
    const { pk, curve } = Object(publicKey ?? key) as Fields
    const isEd25519 = curve === 'edwards25519' && Array.isArray(tests)
    if (!isEd25519) {
      unread(`group ${i}: ${String(algorithm)} on ${String(curve)}, which nothing here verifies`)
      continue
    }
    for (const test of tests as Fields[]) {
      const { tcId, msg, sig, result } = test
      const isValid = result === 'valid' ? true : result === 'invalid' ? false : null
      const parts = { publicKey: hex(pk), message: hex(msg), signature: hex(sig) }
      const made = built(`${path} ${String(tcId)}`, parts, isValid)
      if (made) ed25519.push(made)
      else unread(`test ${String(tcId)} is not in hex`)
    }
  }
}

function hex(text: unknown): Uint8Array | null {
  return typeof text === 'string' ? fromHex(text.toLowerCase()) : null
}

type Parts = Record<'publicKey' | 'message' | 'signature', Uint8Array | null>

function built(name: string, { publicKey, message, signature }: Parts, isValid: boolean | null): SignatureCase | null {
  return publicKey && message && signature ? { name, publicKey, message, signature, isValid } : null
}
