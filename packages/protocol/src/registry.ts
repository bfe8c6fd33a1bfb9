// The attestation registry on the primary chain: record codec, program-derived addresses, instruction data, accounts.

import { sha256Hex } from '#crypto'
import { asciiBytes, bare, concat, fromBase58, fromHex, fromUtf8, toBase58, toHex, utf8 } from './bytes.ts'
import type { EvidenceEnvelope } from './evidence.ts'
import { isOnCurve } from './keys.ts'
import { Cursor, i64, lengthPrefixed, u32 } from './little-endian.ts'
import { REGISTRY_NONCE_PREFIX, REGISTRY_SCHEMA_NAME } from './names.ts'

export const REGISTRY_PROGRAM = '22zoJMtdu4tQc2PzL74ZUT7FrwgB1Udec8DdW4yw4BdG'
export const REGISTRY_SCHEMA_VERSION = 1
export const DEFAULT_CREDENTIAL_NAME = 'svc-content-attestations'

/** Field names with the registry's type codes: 13 bytes, 2 u32, 8 i64, 12 string (SAS-02). */
export const REGISTRY_LAYOUT = [
  ['proof_id', 13],
  ['snapshot_id', 13],
  ['statement_digest', 13],
  ['merkle_root', 13],
  ['file_count', 2],
  ['sequence', 2],
  ['issued_at', 8],
  ['issuer_key_id', 12],
] as const

export interface RegistryRecord {
  proof_id: string
  snapshot_id: string
  statement_digest: string
  merkle_root: string
  file_count: number
  sequence: number
  issued_at: number
  issuer_key_id: string
}

export function registryRecord({ body, statement_digest }: EvidenceEnvelope): RegistryRecord {
  return {
    proof_id: body.proof_id,
    snapshot_id: body.snapshot_id,
    statement_digest,
    merkle_root: bare(body.merkle_root),
    file_count: body.file_count,
    sequence: body.sequence,
    issued_at: body.issued_at_unix,
    issuer_key_id: body.issuer_key_id,
  }
}

export function encodeRecord(record: RegistryRecord): Uint8Array {
  return concat(
    lengthPrefixed(hexBytes(record.proof_id, 16)),
    lengthPrefixed(hexBytes(record.snapshot_id, 32)),
    lengthPrefixed(hexBytes(record.statement_digest, 32)),
    lengthPrefixed(hexBytes(record.merkle_root, 32)),
    u32(record.file_count),
    u32(record.sequence),
    i64(record.issued_at),
    lengthPrefixed(utf8(record.issuer_key_id)),
  )
}

/** The record, or null if the bytes are truncated, too long, or contain fields of the wrong size. */
export function decodeRecord(data: Uint8Array): RegistryRecord | null {
  try {
    const cursor = new Cursor(data)
    const record = {
      proof_id: toHex(cursor.prefixed(16)),
      snapshot_id: toHex(cursor.prefixed(32)),
      statement_digest: toHex(cursor.prefixed(32)),
      merkle_root: toHex(cursor.prefixed(32)),
      file_count: cursor.u32(),
      sequence: cursor.u32(),
      issued_at: cursor.i64(),
      issuer_key_id: fromUtf8(cursor.prefixed()),
    }
    return cursor.isAtEnd() && record.issuer_key_id !== null ? (record as RegistryRecord) : null
  } catch {
    return null
  }
}

/** The nonce of one account for each receipt (`latest`), or of one for each snapshot (SAS-05). */
export function registryNonce(proofId: string, snapshotId?: string): Uint8Array {
  const suffix = snapshotId === undefined ? '' : `|${snapshotId}`
  return hexBytes(sha256Hex(REGISTRY_NONCE_PREFIX + proofId + suffix), 32)
}

export interface RegistryAddresses {
  credential: string
  schema: string
  eventAuthority: string
}

export function registryAddresses(authority: string, credentialName = DEFAULT_CREDENTIAL_NAME): RegistryAddresses {
  const credential = derive(asciiBytes('credential'), address(authority), utf8(credentialName))
  return {
    credential,
    schema: derive(
      asciiBytes('schema'),
      address(credential),
      asciiBytes(REGISTRY_SCHEMA_NAME),
      Uint8Array.of(REGISTRY_SCHEMA_VERSION),
    ),
    eventAuthority: derive(asciiBytes('__event_authority')),
  }
}

export function attestationAddress(
  { credential, schema }: Pick<RegistryAddresses, 'credential' | 'schema'>,
  nonce: Uint8Array,
): string {
  return derive(asciiBytes('attestation'), address(credential), address(schema), nonce)
}

/** `expiry` in Unix seconds; 0 means none. */
export function createInstructionData(nonce: Uint8Array, data: Uint8Array, expiry: number): Uint8Array {
  return concat(Uint8Array.of(6), nonce, lengthPrefixed(data), i64(expiry))
}

export function closeInstructionData(): Uint8Array {
  return Uint8Array.of(7)
}

export interface RegistryAccount {
  nonce: string
  credential: string
  schema: string
  record: RegistryRecord
  signer: string
  expiry: number
}

const ATTESTATION_DISCRIMINATOR = 2

/** Reads the specified fields; the public program appends a token account, which is ignored (SAS-08). */
export function readRegistryAccount(account: Uint8Array): RegistryAccount | null {
  try {
    const cursor = new Cursor(account)
    if (cursor.u8() !== ATTESTATION_DISCRIMINATOR) return null
    const nonce = toBase58(cursor.bytes(32))
    const credential = toBase58(cursor.bytes(32))
    const schema = toBase58(cursor.bytes(32))
    const record = decodeRecord(cursor.prefixed())
    const signer = toBase58(cursor.bytes(32))
    const expiry = cursor.i64()
    return record && { nonce, credential, schema, record, signer, expiry }
  } catch {
    return null
  }
}

/** A program-derived address: the first hash that is not a curve point, counting the bump down. */
function derive(...seeds: Uint8Array[]): string {
  for (let bump = 255; bump >= 0; bump--) {
    const preimage = concat(
      ...seeds,
      Uint8Array.of(bump),
      address(REGISTRY_PROGRAM),
      asciiBytes('ProgramDerivedAddress'),
    )
    const candidate = hexBytes(sha256Hex(preimage), 32)
    if (!isOnCurve(candidate)) return toBase58(candidate)
  }
  throw new RangeError('no program-derived address for these seeds')
}

function address(base58: string): Uint8Array {
  const bytes = fromBase58(base58, 32)
  if (!bytes) throw new RangeError(`not an address: ${base58}`)
  return bytes
}

function hexBytes(hex: string, length: number): Uint8Array {
  const bytes = fromHex(hex, length)
  if (!bytes) throw new RangeError(`expected ${length} bytes as lowercase hex`)
  return bytes
}
