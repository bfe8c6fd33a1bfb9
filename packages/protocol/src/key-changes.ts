// How the keys of a gateway change, in signed documents that anybody can check: a key endorses its successor, and a key
// that was stolen is revoked.

import { sha256Hex } from '#crypto'
import { asciiBytes, concat, fromHex, toHex } from './bytes.ts'
import { canonicalBytes, type Json } from './canonical.ts'
import { unixSeconds } from './evidence.ts'
import { issuerKeyId } from './ids.ts'
import { isEd25519SignedBy } from './keys.ts'
import {
  KEY_ENDORSEMENT_SCHEMA,
  KEY_ENDORSEMENT_TAG,
  KEY_PURPOSES,
  KEY_REVOCATION_SCHEMA,
  KEY_REVOCATION_TAG,
  type KeyPurpose,
} from './names.ts'

export interface NamedKey {
  key_id: string
  public_key_hex: string
}

export interface EndorsementBody {
  schema: typeof KEY_ENDORSEMENT_SCHEMA
  purpose: KeyPurpose
  /** The public address of the gateway. */
  audience: string
  /** Signs this: the key before, or the recovery key. */
  endorser: NamedKey
  endorsed: NamedKey
  /** From here on the endorsed key signs. */
  valid_from: string
  issued_at: string
}

export interface RevocationBody {
  schema: typeof KEY_REVOCATION_SCHEMA
  purpose: KeyPurpose
  audience: string
  revoked: NamedKey
  /** Signs this: the revoked key itself, a later one, or the recovery key. */
  revoked_by: NamedKey
  /** From here on, whatever the key signed may be of a thief. */
  since: string
  issued_at: string
}

interface Signed<Body> {
  body: Body
  /** Hex; by Ed25519 over tag, zero byte and the SHA-256 of the canonical body. */
  signature: string
}

export type Endorsement = Signed<EndorsementBody>
export type Revocation = Signed<RevocationBody>

export function namedKey(publicKeyHex: string): NamedKey {
  return { key_id: issuerKeyId(publicKeyHex), public_key_hex: publicKeyHex }
}

export function endorsementMessage(body: EndorsementBody): Uint8Array {
  return message(KEY_ENDORSEMENT_TAG, body)
}

export function revocationMessage(body: RevocationBody): Uint8Array {
  return message(KEY_REVOCATION_TAG, body)
}

export function signedChange<Body extends EndorsementBody | RevocationBody>(
  body: Body,
  signature: Uint8Array,
): Signed<Body> {
  return { body, signature: toHex(signature) }
}

function message(tag: string, body: object): Uint8Array {
  const digest = fromHex(sha256Hex(canonicalBytes(body as Json)), 32) as Uint8Array // hex by its making
  return concat(asciiBytes(`${tag}\0`), digest)
}

/** The endorsement, or why it is none. Only its form and its signature are judged, not whether its signer is trusted. */
export function readEndorsement(value: unknown): Endorsement | string {
  const fields = { endorser: isNamedKey, endorsed: isNamedKey, valid_from: isTime, issued_at: isTime }
  const problem = formProblem(value, KEY_ENDORSEMENT_SCHEMA, fields)
  if (problem !== null) return problem
  const endorsement = value as Endorsement // each field was checked
  const { endorser, endorsed } = endorsement.body
  if (endorser.public_key_hex === endorsed.public_key_hex) return 'a key cannot endorse itself'
  return isSigned(endorser, KEY_ENDORSEMENT_TAG, endorsement) ? endorsement : 'its signature does not hold'
}

/** The revocation, or why it is none, judged as endorsements are. */
export function readRevocation(value: unknown): Revocation | string {
  const fields = { revoked: isNamedKey, revoked_by: isNamedKey, since: isTime, issued_at: isTime }
  const problem = formProblem(value, KEY_REVOCATION_SCHEMA, fields)
  if (problem !== null) return problem
  const revocation = value as Revocation // each field was checked
  return isSigned(revocation.body.revoked_by, KEY_REVOCATION_TAG, revocation)
    ? revocation
    : 'its signature does not hold'
}

/** Unix seconds of a time that was checked. */
export function timeOf(iso: string): number {
  return unixSeconds(iso) as number
}

function isSigned(key: NamedKey, tag: string, { body, signature }: Signed<object>): boolean {
  const [publicKey, bytes] = [fromHex(key.public_key_hex, 32), fromHex(signature, 64)]
  return publicKey !== null && bytes !== null && isEd25519SignedBy(publicKey, message(tag, body), bytes)
}

/** A field more would be signed and mean something that this verifier does not know. */
function formProblem(value: unknown, schema: string, fields: Record<string, (value: unknown) => boolean>) {
  if (!isRecord(value) || !isRecord(value.body) || typeof value.signature !== 'string') return 'it has another form'
  const { body } = value
  if (body.schema !== schema) return `its schema is not ${schema}`
  if (typeof body.purpose !== 'string' || !Object.hasOwn(KEY_PURPOSES, body.purpose)) return 'it has another purpose'
  if (typeof body.audience !== 'string' || body.audience.length > MAX_AUDIENCE || !body.audience.isWellFormed())
    return 'its audience is not an address'
  const known = ['schema', 'purpose', 'audience', ...Object.keys(fields)]
  const isWhole = Object.keys(body).length === known.length && known.every((name) => Object.hasOwn(body, name))
  return isWhole && Object.entries(fields).every(([name, test]) => test(body[name])) ? null : 'it has another form'
}

const MAX_AUDIENCE = 2000

function isNamedKey(value: unknown): boolean {
  if (!isRecord(value) || Object.keys(value).length !== 2) return false
  const { key_id, public_key_hex } = value
  return (
    typeof public_key_hex === 'string' && fromHex(public_key_hex, 32) !== null && key_id === issuerKeyId(public_key_hex)
  )
}

function isTime(value: unknown): boolean {
  return unixSeconds(value) !== null
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
