// Splits a bundle without its lists into parts, and checks their form as far as possible without interpreting them.

import type { Json } from '@svc/protocol/canonical'
import { EVIDENCE_BUNDLE_SCHEMA, EVIDENCE_SCHEMA, MERKLE_ALGORITHM, REDACTED_BUNDLE_SCHEMA } from '@svc/protocol/names'
import type { Redaction } from '@svc/protocol/redacted-bundle'
import type { ListKey } from './rest-of-document.ts'
import { isObject, type JsonObject, RefusedBundle } from './untrusted.ts'

export interface DocumentParts {
  version: 1 | 2
  /** Everything except the rows of the lists. */
  document: JsonObject
  receiptId: Json
  proofId: Json
  commitment: JsonObject
  /** Null in a version-1 bundle. */
  envelope: JsonObject | null
  /** Null in a version-2 bundle. */
  v1Signature: JsonObject | null
  anchor: JsonObject | null
  /** In any form, because a malformed log is a failed fact and not a refusal. */
  log: Json
  signingKeys: Json
}

export function isRedacted(document: Json): document is JsonObject {
  return isObject(document) && document.schema === REDACTED_BUNDLE_SCHEMA
}

export function documentParts(document: Json): DocumentParts {
  return isRedacted(document) ? redactedParts(document) : bundleParts(document)
}

function bundleParts(bundle: Json): DocumentParts {
  if (!isObject(bundle) || bundle.schema !== EVIDENCE_BUNDLE_SCHEMA) {
    throw new RefusedBundle('not_a_bundle', `schema is neither ${EVIDENCE_BUNDLE_SCHEMA} nor ${REDACTED_BUNDLE_SCHEMA}`)
  }
  const { bundle_version, receipt_id = null, proof_id = null, signing_keys = null, log = null } = bundle
  if (bundle_version !== 1 && bundle_version !== 2) {
    throw new RefusedBundle('unsupported_version', 'bundle_version is neither 1 nor 2')
  }
  requireAlgorithms(bundle, bundle_version === 2 ? EVIDENCE_SCHEMA : null)
  const envelope = objectOrNull(bundle, 'envelope')
  const v1Signature = objectOrNull(bundle, 'v1_signature')
  const anchor = objectOrNull(bundle, 'anchor')
  const commitment = objectOrNull(bundle, 'commitment')
  if (!commitment) throw new RefusedBundle('not_a_bundle', 'there is no commitment')
  if (!Array.isArray(bundle.files)) throw new RefusedBundle('not_a_bundle', 'files is not a list')
  if ((envelope !== null) !== (bundle_version === 2) || (v1Signature !== null) !== (bundle_version === 1)) {
    throw new RefusedBundle('not_a_bundle', 'version 2 must have an envelope only, version 1 a v1_signature only')
  }
  return {
    version: bundle_version,
    document: bundle,
    receiptId: receipt_id,
    proofId: proof_id,
    commitment,
    envelope,
    v1Signature,
    anchor,
    log,
    signingKeys: signing_keys,
  }
}

function requireAlgorithms({ algorithms }: JsonObject, envelope: string | null): void {
  if (isObject(algorithms) && algorithms.merkle === MERKLE_ALGORITHM && algorithms.envelope === envelope) return
  throw new RefusedBundle('unsupported_version', 'algorithms does not match this version')
}

const LIST_OF: Record<Redaction, ListKey> = { chosen_files: 'files', no_names: 'leaf_hashes' }

/** A redacted bundle does not repeat its statement: the statement itself is the commitment. */
function redactedParts(bundle: JsonObject): DocumentParts {
  const { redaction } = bundle
  if (redaction !== 'chosen_files' && redaction !== 'no_names')
    throw new RefusedBundle('unsupported_version', 'redaction is neither chosen_files nor no_names')
  requireAlgorithms(bundle, EVIDENCE_SCHEMA)
  const envelope = objectOrNull(bundle, 'envelope')
  if (!envelope) throw new RefusedBundle('not_a_bundle', 'there is no envelope')
  const list = LIST_OF[redaction]
  const other = list === 'files' ? 'leaf_hashes' : 'files'
  if (!Array.isArray(bundle[list]) || bundle[other] !== undefined) {
    throw new RefusedBundle('not_a_bundle', `a bundle with the redaction ${redaction} must have only the list ${list}`)
  }
  const body = isObject(envelope.body) ? envelope.body : {}
  return {
    version: 2,
    document: bundle,
    receiptId: null,
    proofId: body.proof_id ?? null,
    commitment: { ...body, attested_at: body.issued_at ?? null },
    envelope,
    v1Signature: null,
    anchor: objectOrNull(bundle, 'anchor'),
    log: bundle.log ?? null,
    signingKeys: bundle.signing_keys ?? null,
  }
}

function objectOrNull(bundle: JsonObject, field: string): JsonObject | null {
  const value = bundle[field] ?? null
  if (value === null || isObject(value)) return value
  throw new RefusedBundle('not_a_bundle', `${field} is not an object`)
}
