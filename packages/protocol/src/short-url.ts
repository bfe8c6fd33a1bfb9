// Short-URL tokens allow one operation on one file until they expire. Their content is readable, but cannot be forged.

import { concat, fromBase64Url, toBase64Url } from './bytes.ts'
import { canonicalBytes, type Json } from './canonical.ts'
import type { Ed25519Signer, Ed25519Verifier } from './keys.ts'
import { parseStrictJson } from './strict-json.ts'

const SIGNATURE_BYTES = 64
const MAX_TOKEN_CHARS = 4096

export type TokenMethod = 'GET' | 'PUT' | 'DELETE'

interface TokenFields {
  expires: number
  lockerId: string
  method: TokenMethod
  nonce: string
  /** An opaque code, because the token never names the provider (GEN-11). */
  provider: number
  /** Absent in tokens of releases up to 1.0.0. */
  minted?: Minted
}

/** Values that let the gateway revoke a token before it expires. */
interface Minted {
  /** A pseudonym of the key that requested the token. Only the gateway can resolve it. */
  by: string
  /** The access epoch of the locker when the token was made. */
  epoch: number
}

/** New tokens contain the filename, old ones only its SHA-256 (SHORT-12). */
export type ShortUrlToken = TokenFields & ({ filename: string } | { filenameHash: string })

export function mintToken(token: TokenFields & { filename: string }, signer: Ed25519Signer): string {
  const { minted } = token
  const payload = canonicalBytes({
    ...(minted && { a: minted.epoch, k: minted.by }),
    e: token.expires,
    f: token.filename,
    l: token.lockerId,
    m: token.method,
    n: token.nonce,
    p: token.provider,
    v: 1,
  })
  return toBase64Url(concat(payload, signer.sign(payload)))
}

/** The fields of a token with a valid signature, else null. The caller compares the expiry with its clock. */
export function readToken(token: string, key: Ed25519Verifier): ShortUrlToken | null {
  const bytes = token.length > MAX_TOKEN_CHARS ? null : fromBase64Url(token)
  if (!bytes || bytes.length <= SIGNATURE_BYTES) return null
  const payload = bytes.subarray(0, -SIGNATURE_BYTES)
  if (!key.verify(payload, bytes.subarray(-SIGNATURE_BYTES))) return null
  try {
    return tokenFields(parseStrictJson(payload, payload.length) as Record<string, Json>)
  } catch {
    return null
  }
}

function tokenFields(payload: Record<string, Json>): ShortUrlToken | null {
  const { a, e, f, h, k, l, m, n, p, v } = payload
  if (v !== 1 || !Number.isSafeInteger(e) || !Number.isSafeInteger(p)) return null
  if (typeof l !== 'string' || typeof n !== 'string' || !isMethod(m)) return null
  const isOld = a === undefined && k === undefined
  if (!isOld && !(Number.isSafeInteger(a) && typeof k === 'string')) return null
  const minted = isOld ? {} : { minted: { by: k as string, epoch: a as number } }
  const fields = { expires: e as number, lockerId: l, method: m, nonce: n, provider: p as number, ...minted }
  if (typeof f === 'string') return { ...fields, filename: f }
  return typeof h === 'string' ? { ...fields, filenameHash: h } : null
}

function isMethod(value: Json | undefined): value is TokenMethod {
  return value === 'GET' || value === 'PUT' || value === 'DELETE'
}
