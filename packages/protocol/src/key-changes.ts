// Signed documents about changes of a gateway's keys, which anyone can verify: a key endorses its successor, and a
// stolen key is revoked.

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
  /** The signer: the previous key, or the recovery key. */
  endorser: NamedKey
  endorsed: NamedKey
  /** The endorsed key is valid from this time on. */
  valid_from: string
  issued_at: string
}

export interface RevocationBody {
  schema: typeof KEY_REVOCATION_SCHEMA
  purpose: KeyPurpose
  audience: string
  revoked: NamedKey
  /** The signer: the revoked key itself, a later key, or the recovery key. */
  revoked_by: NamedKey
  /** From this time on, signatures by the key may have been made by a thief. */
  since: string
  issued_at: string
}

interface Signed<Body> {
  body: Body
  /** An Ed25519 signature in hex, over tag, zero byte and the SHA-256 of the canonical body. */
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
  const digest = fromHex(sha256Hex(canonicalBytes(body as Json)), 32) as Uint8Array // always 32 bytes in hex
  return concat(asciiBytes(`${tag}\0`), digest)
}

/** The endorsement, or its problem. Checks only its form and signature, not whether its signer is trusted. */
export function readEndorsement(value: unknown): Endorsement | string {
  const fields = { endorser: isNamedKey, endorsed: isNamedKey, valid_from: isTime, issued_at: isTime }
  const problem = formProblem(value, KEY_ENDORSEMENT_SCHEMA, fields)
  if (problem !== null) return problem
  const endorsement = signedPart(value as Endorsement) // each field was checked
  const { endorser, endorsed } = endorsement.body
  if (endorser.public_key_hex === endorsed.public_key_hex) return 'a key cannot endorse itself'
  return isSigned(endorser, KEY_ENDORSEMENT_TAG, endorsement) ? endorsement : 'its signature is invalid'
}

/** The revocation, or its problem. Checks only its form and signature, as for endorsements. */
export function readRevocation(value: unknown): Revocation | string {
  const fields = { revoked: isNamedKey, revoked_by: isNamedKey, since: isTime, issued_at: isTime }
  const problem = formProblem(value, KEY_REVOCATION_SCHEMA, fields)
  if (problem !== null) return problem
  const revocation = signedPart(value as Revocation) // each field was checked
  return isSigned(revocation.body.revoked_by, KEY_REVOCATION_TAG, revocation) ? revocation : 'its signature is invalid'
}

/** Without the fields beside it, which nobody signed. */
function signedPart<Body>({ body, signature }: Signed<Body>): Signed<Body> {
  return { body, signature }
}

/** The Unix seconds of a validated time. */
export function timeOf(iso: string): number {
  return unixSeconds(iso) as number
}

function isSigned(key: NamedKey, tag: string, { body, signature }: Signed<object>): boolean {
  const [publicKey, bytes] = [fromHex(key.public_key_hex, 32), fromHex(signature, 64)]
  return publicKey !== null && bytes !== null && isEd25519SignedBy(publicKey, message(tag, body), bytes)
}

/** Rejects unknown fields: they would be signed, with a meaning that this verifier does not know. */
function formProblem(value: unknown, schema: string, fields: Record<string, (value: unknown) => boolean>) {
  if (!isRecord(value) || !isRecord(value.body) || typeof value.signature !== 'string') return 'it is malformed'
  const { body } = value
  if (body.schema !== schema) return `its schema is not ${schema}`
  if (typeof body.purpose !== 'string' || !Object.hasOwn(KEY_PURPOSES, body.purpose)) return 'its purpose is unknown'
  if (typeof body.audience !== 'string' || body.audience.length > MAX_AUDIENCE || !body.audience.isWellFormed())
    return 'its audience is not an address'
  const known = ['schema', 'purpose', 'audience', ...Object.keys(fields)]
  const isComplete = Object.keys(body).length === known.length && known.every((name) => Object.hasOwn(body, name))
  return isComplete && Object.entries(fields).every(([name, test]) => test(body[name])) ? null : 'it is malformed'
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
