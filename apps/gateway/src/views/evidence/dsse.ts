// `GET /v1/storage/dsse`: a statement in formats that other verifiers read, signed again by the current key.

import { DSSE_TYPES, type DsseAnswer, type DsseFormat } from '@svc/api/dsse'
import { type Lru, lru } from '@svc/concurrency/caches'
import { type SingleFlight, singleFlight } from '@svc/concurrency/sharing'
import { bare, toHex } from '@svc/protocol/bytes'
import {
  type DsseEnvelope,
  dsseEnvelope,
  type EvidencePredicate,
  IN_TOTO_PAYLOAD_TYPE,
  inTotoPayload,
  preAuthEncoding,
  sigstoreBundle,
} from '@svc/protocol/dsse'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import { issuerKeyId } from '@svc/protocol/ids'
import { type FileEntry, foldProof, leafHash, merkleRoot } from '@svc/protocol/merkle'
import { type ShownFile, shownAnchor } from '@svc/protocol/redacted-bundle'
import { Answer, JsonText } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError, ValidationError } from '@svc/service/service-error'
import { limitAnonymous } from '../../auth/limits.ts'
import type { Context } from '../../context.ts'
import type { AttestationRecord } from '../../evidence/record.ts'
import { proveFile } from '../../evidence/snapshots/prove-file.ts'
import { filesOf } from '../../evidence/view.ts'
import type { KeySigner } from '../../keys/signers/signer.ts'
import { allSigningKeys } from '../../keys/store.ts'
import { type Attested, factsOf, fileNotAttested, namesReceipt, readAttested } from './read-evidence.ts'

interface Wanted {
  receipt_id: string
  sequence?: number
  filename?: string
  format?: DsseFormat
}

/** The payload must fit in one message to an ssh-agent, which accepts 256 KiB (DSSE-02). */
const MAX_PAYLOAD_BYTES = 200_000
/** Subject and row of a file take at least 200 bytes. */
const MAX_FILES = MAX_PAYLOAD_BYTES / 200
/** In bytes. */
const MAX_CACHED_BYTES = 16_000_000

/** Statements that were signed in another format. */
export interface DsseEnvelopes {
  kept: Lru<string, DsseEnvelope>
  share: SingleFlight<DsseEnvelope>
}

export function openDsseEnvelopes(): DsseEnvelopes {
  return { kept: lru(MAX_CACHED_BYTES, ({ payload }) => payload.length), share: singleFlight() }
}

/**
 * Signs once for each statement, file and key, and again when its anchor becomes final. A signature counts as an
 * unauthenticated request; a cached envelope is free.
 */
export async function readDsse(
  context: Context,
  wire: WireRequest,
  { receipt_id, sequence, filename, format = 'dsse' }: Wanted,
) {
  const attested = await readAttested(context, receipt_id, sequence)
  const envelope = await signed(context, wire, attested, filename)
  const text = JSON.stringify(format === 'dsse' ? envelope : sigstoreBundle(envelope))
  return new Answer(200, new JsonText<DsseAnswer>(text), { 'content-type': DSSE_TYPES[format] })
}

async function signed(
  context: Context,
  wire: WireRequest,
  attested: Attested,
  filename: string | undefined,
): Promise<DsseEnvelope> {
  const { kept, share } = context.dsseEnvelopes
  const { record } = attested
  const envelope = envelopeOf(record)
  await requireOwnSignature(context, attested, envelope.issuer_pubkey)
  const anchor = finalAnchor(record)
  const key = await context.statementKeys.current()
  const name = JSON.stringify([toHex(key.publicKey), envelope.statement_digest, anchor?.tx, filename])
  const before = kept.get(name)
  if (before) return before
  await limitAnonymous(context, wire, record.receiptId)
  return share(name, async () => {
    const files = filename === undefined ? await allFiles(context, record) : [await oneFile(context, record, filename)]
    const made = await sign(context, key, { envelope, anchor, files })
    kept.set(name, made)
    return made
  })
}

async function sign(context: Context, key: KeySigner, predicate: EvidencePredicate): Promise<DsseEnvelope> {
  const payload = inTotoPayload(predicate)
  if (payload.length > MAX_PAYLOAD_BYTES) throw tooLong()
  await context.continuity.requireCurrent()
  const sig = await key.sign(preAuthEncoding(IN_TOTO_PAYLOAD_TYPE, payload))
  return dsseEnvelope(payload, { keyid: issuerKeyId(toHex(key.publicKey)), sig })
}

function envelopeOf({ receiptId, record }: AttestationRecord): EvidenceEnvelope {
  if (record.envelope) return record.envelope
  throw notSignable(receiptId, 'a record of the oracle era has no statement')
}

/** The anchor may change until it is final, which would change the signed text. */
function finalAnchor({ anchor }: AttestationRecord) {
  return anchor?.finalized ? shownAnchor(anchor) : null
}

/**
 * The current key must not sign again what was changed in the database or forged with a stolen key: a revoked key can
 * sign any date (T-14).
 */
async function requireOwnSignature(context: Context, attested: Attested, issuer: string | null): Promise<void> {
  const { receiptId } = attested.record
  const { signature_valid } = await factsOf(context, attested)
  if (signature_valid !== 'passed')
    throw notSignable(receiptId, 'the statement is not signed by a key that this gateway used at its time')
  const keys = await allSigningKeys(context.database.db)
  if (keys.some(({ public_key_hex, revoked_since }) => public_key_hex === issuer && revoked_since !== null))
    throw notSignable(receiptId, 'the key that signed the statement was revoked')
}

async function oneFile(context: Context, record: AttestationRecord, filename: string): Promise<ShownFile> {
  if (namesReceipt(record, filename))
    throw new ValidationError({ loc: ['query', 'filename'], msg: 'must not name the receipt or its locker' })
  const proven = await proveFile(context, record.snapshotKey, filename)
  if (!proven) throw fileNotAttested(record.receiptId, filename)
  const { file, leafIndex, leafHash: leaf, proof } = proven
  requireRoot(record, foldProof(leaf, proof))
  return { ...entryOf(file), leaf_index: leafIndex, proof }
}

async function allFiles({ database }: Context, record: AttestationRecord): Promise<FileEntry[]> {
  if (record.record.file_count > MAX_FILES) throw tooLong()
  const files: FileEntry[] = []
  for await (const page of filesOf(database.db, record)) files.push(...page.map(entryOf))
  if (files.some(({ filename }) => namesReceipt(record, filename)))
    throw new ValidationError({
      loc: ['query', 'filename'],
      msg: 'is missing, and a file of the statement names the receipt or its locker: request other files one by one',
    })
  requireRoot(record, merkleRoot(files.map(leafHash)))
  return files
}

function entryOf({ filename, size_bytes, content_hash }: FileEntry): FileEntry {
  return { filename, size_bytes, content_hash: bare(content_hash) }
}

/** `root` has no prefix. */
function requireRoot({ record, snapshotKey }: AttestationRecord, root: string): void {
  if (bare(record.envelope?.body.merkle_root ?? '') !== root)
    throw new Error(`snapshot ${snapshotKey} does not match its statement`)
}

function tooLong(): ServiceError {
  return new ValidationError({
    loc: ['query', 'filename'],
    msg: 'is missing: the statement has more files than fit in one signed message (about 700)',
  })
}

function notSignable(receiptId: string, why: string): ServiceError {
  return new ServiceError('attestation_not_available', `${why}, so it cannot be signed in another format`, {
    hint: `make a new statement first: POST /v1/storage/attest?receipt_id=${encodeURIComponent(receiptId)}`,
  })
}
