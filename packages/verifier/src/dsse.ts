// Reads a statement in the formats of third-party verifiers: the redacted bundle in it, and facts about its envelope.
// docs/predicate.md describes the format.

import { fromBase64, fromUtf8, utf8 } from '@svc/protocol/bytes'
import type { Json } from '@svc/protocol/canonical'
import { type DsseEnvelope, IN_TOTO_PAYLOAD_TYPE, payloadSignedBy } from '@svc/protocol/dsse'
import { isoSeconds } from '@svc/protocol/evidence'
import type { FollowedKeys } from '@svc/protocol/follow-keys'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { type FileEntry, leafHash, merkleLevels, merkleProof } from '@svc/protocol/merkle'
import { EVIDENCE_PREDICATE_TYPE, EVIDENCE_SCHEMA, MERKLE_ALGORITHM, REDACTED_BUNDLE_SCHEMA } from '@svc/protocol/names'
import { type Fact, failed, notChecked, PASSED, passedUnless } from './facts.ts'
import { isObject, type JsonObject, type Refusal, RefusedBundle, strictJson } from './untrusted.ts'

export const DSSE_FACTS = ['dsse_signed', 'dsse_subjects_match'] as const
export type DsseFacts = Record<(typeof DSSE_FACTS)[number], Fact>

export interface OpenedDsse {
  /** The input of `verifyBundle`. */
  bundle: Uint8Array
  /** `followed`: the keys that are trusted according to the verification of the bundle. */
  facts(followed: FollowedKeys): DsseFacts
}

/** Gateways sign at most 200,000 bytes, which are longer in base64. */
export const MAX_DSSE_BYTES = 1024 * 1024

/** Null for bytes that are neither a DSSE envelope nor a Sigstore bundle; a refusal for an envelope of another kind. */
export function openDsse(bytes: Uint8Array): OpenedDsse | { refused: Refusal } | null {
  if (bytes.length > MAX_DSSE_BYTES) return null
  try {
    const document = strictJson(bytes, MAX_DSSE_BYTES, 'the file')
    const found = isObject(document) ? envelopeIn(document) : null
    return found && opened(found)
  } catch (error) {
    if (!(error instanceof RefusedBundle)) throw error
    // Bytes that are not JSON are not an envelope. The reader of bundles refuses them.
    return error.code === 'not_strict_json' ? null : { refused: { code: error.code, why: error.message } }
  }
}

const ENVELOPE_FIELDS = ['payload', 'payloadType', 'signatures']
const SIGSTORE_FIELDS = ['mediaType', 'verificationMaterial', 'dsseEnvelope']

/** Refuses other fields: they are not signed, and could be mistaken for verified content. */
function envelopeIn(document: JsonObject): DsseEnvelope | null {
  const inner = document.dsseEnvelope ?? document
  if (!isEnvelope(inner)) return null
  const expected = inner === document ? ENVELOPE_FIELDS : SIGSTORE_FIELDS
  if (Object.keys(document).every((field) => expected.includes(field))) return inner
  throw new RefusedBundle('not_a_bundle', 'the DSSE envelope has other fields next to it, which are not signed')
}

function isEnvelope(value: Json): value is DsseEnvelope & JsonObject {
  return (
    isObject(value) &&
    typeof value.payload === 'string' &&
    typeof value.payloadType === 'string' &&
    Array.isArray(value.signatures) &&
    value.signatures.every((signature) => isObject(signature) && typeof signature.sig === 'string')
  )
}

function opened(envelope: DsseEnvelope): OpenedDsse {
  const { subject, predicate } = inTotoStatement(envelope)
  const files = rowsOf(predicate)
  const bundle = {
    schema: REDACTED_BUNDLE_SCHEMA,
    redaction: 'chosen_files',
    algorithms: { merkle: MERKLE_ALGORITHM, envelope: EVIDENCE_SCHEMA },
    envelope: predicate.envelope ?? null,
    anchor: predicate.anchor ?? null,
    files: withProofs(files),
  }
  return {
    bundle: utf8(JSON.stringify(bundle)),
    facts: (followed) => ({
      dsse_signed: isSigned(envelope, followed),
      dsse_subjects_match: subjectsMatch(subject ?? null, files),
    }),
  }
}

function inTotoStatement({ payload, payloadType }: DsseEnvelope): { subject?: Json; predicate: JsonObject } {
  if (payloadType !== IN_TOTO_PAYLOAD_TYPE)
    throw new RefusedBundle('not_a_bundle', 'the payload is not an in-toto statement')
  const bytes = fromBase64(payload)
  const text = bytes && fromUtf8(bytes)
  const statement = text ? strictJson(text, MAX_DSSE_BYTES, 'the payload') : null
  if (!isObject(statement) || statement.predicateType !== EVIDENCE_PREDICATE_TYPE || !isObject(statement.predicate))
    throw new RefusedBundle('not_a_bundle', `the predicate type is not ${EVIDENCE_PREDICATE_TYPE}`)
  return { ...(statement.subject !== undefined && { subject: statement.subject }), predicate: statement.predicate }
}

type Row = FileEntry & JsonObject

function rowsOf({ files }: JsonObject): Row[] {
  const isRow = (row: Json): row is Row =>
    isObject(row) && isText(row.filename) && isText(row.content_hash) && Number.isSafeInteger(row.size_bytes)
  if (Array.isArray(files) && files.length > 0 && files.every(isRow)) return files
  throw new RefusedBundle('bad_file_entry', 'files of the predicate has malformed rows')
}

/** Text with a lone surrogate has no UTF-8, so it has no hash. */
function isText(value: Json | undefined): boolean {
  return typeof value === 'string' && value.isWellFormed()
}

/** Adds proofs to the rows of all files, which come without them. */
function withProofs(rows: readonly Row[]): readonly Json[] {
  if (rows.some(({ proof }) => proof !== undefined)) return rows
  const levels = merkleLevels(rows.map(leafHash))
  return rows.map((row, i) => ({ ...row, leaf_index: i, proof: merkleProof(levels, i).map((step) => ({ ...step })) }))
}

/** The envelope has no time, so a key is valid for it regardless of its period, unless it was revoked. */
function isSigned(envelope: DsseEnvelope, { keys, revoked }: FollowedKeys): Fact {
  if (keys.length === 0) return notChecked('no key was pinned, and the envelope does not contain its key')
  const usable = keys.filter(({ use }) => use === null || use === 'evidence-envelope')
  const signer = usable.find(({ publicKeyHex }) => {
    const key = ed25519PublicKeyFromHex(publicKeyHex)
    return key !== null && payloadSignedBy(key, envelope) !== null
  })
  if (!signer) return failed('the envelope is not signed by a pinned key')
  const since = revoked.get(signer.publicKeyHex)
  return since === undefined
    ? PASSED
    : failed(`the key that signed the envelope was revoked as of ${isoSeconds(since)}`)
}

function subjectsMatch(subject: Json, files: readonly Row[]): Fact {
  const subjects = Array.isArray(subject) ? subject : []
  const isSame = ({ filename, content_hash }: Row, i: number): boolean => {
    const named: Json | undefined = subjects[i]
    return isObject(named) && named.name === filename && isObject(named.digest) && named.digest.sha256 === content_hash
  }
  return passedUnless(
    subjects.length === files.length && files.every(isSame) ? null : 'the subjects are not the files of the predicate',
  )
}
