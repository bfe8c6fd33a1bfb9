// Accounts of the attestation registry, and their addresses.

import { envelopeOf, PROOF_ID } from './bundles.ts'
import { derivedAddress } from './curve.ts'
import { base58, fromBase58, type Json, type JsonObject, sha256 } from './formats.ts'
import { PUBLICATION_KEY } from './keys.ts'

export const REGISTRY = '22zoJMtdu4tQc2PzL74ZUT7FrwgB1Udec8DdW4yw4BdG'
const envelope = envelopeOf()
const body = envelope.body as JsonObject

const credential = derivedAddress(
  REGISTRY,
  Buffer.from('credential'),
  fromBase58(PUBLICATION_KEY.base58, 32),
  Buffer.from('svc-content-attestations'),
)
export const schema = derivedAddress(
  REGISTRY,
  Buffer.from('schema'),
  fromBase58(credential, 32),
  Buffer.from('svc.content.v2'),
  Uint8Array.of(1),
)

export function sasOf(mode: 'latest' | 'per_snapshot'): JsonObject {
  const suffix = mode === 'latest' ? '' : `|${body.snapshot_id}`
  const nonce = Buffer.from(sha256(`svc/sas-nonce/v1|${PROOF_ID}${suffix}`), 'hex')
  const place = [fromBase58(credential, 32), fromBase58(schema, 32), nonce]
  return {
    program: REGISTRY,
    credential,
    schema,
    nonce: base58(nonce),
    attestation: derivedAddress(REGISTRY, Buffer.from('attestation'), ...place),
    mode,
    replaced_previous: false,
  }
}

function prefixed(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([u32(bytes.length), bytes])
}

function u32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function i64(value: number): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(BigInt(value))
  return bytes
}

const hex = (value: Json | undefined) => prefixed(Buffer.from(String(value).replace('sha256:', ''), 'hex'))

interface AccountOrder {
  sas?: JsonObject
  /** The statement in the record, when it is not the bundle's. */
  statement?: JsonObject
  signer?: string
  /** In the public program: a token account, zero when there is none. */
  trailing?: number
}

export function accountBytes({
  sas = sasOf('latest'),
  statement = envelope,
  signer = PUBLICATION_KEY.base58,
  trailing = 32,
}: AccountOrder): Buffer {
  const of = statement.body as JsonObject
  const record = Buffer.concat([
    ...[of.proof_id, of.snapshot_id, statement.statement_digest, of.merkle_root].map(hex),
    u32(of.file_count as number),
    u32(of.sequence as number),
    i64(of.issued_at_unix as number),
    prefixed(Buffer.from(String(of.issuer_key_id))),
  ])
  return Buffer.concat([
    Uint8Array.of(2),
    ...[sas.nonce, sas.credential, sas.schema].map((address) => fromBase58(String(address), 32)),
    prefixed(record),
    fromBase58(signer, 32),
    i64(0),
    Buffer.alloc(trailing),
  ])
}

export function account(data: Buffer, owner = REGISTRY): JsonObject {
  return {
    data: [data.toString('base64'), 'base64'],
    executable: false,
    lamports: 3_292_080,
    owner,
    rentEpoch: 0,
    space: data.length,
  }
}
