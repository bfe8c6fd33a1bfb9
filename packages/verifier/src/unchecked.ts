// The fields of a bundle that no fact of this run covers. Facts report themselves if they were not checked. This list
// names fields that remain unchecked even if every fact passed, because they are not signed or no node could be
// queried.

import type { LogCheck } from './log-facts.ts'
import type { BundleParts } from './read-bundle.ts'
import type { AnchorTransaction } from './rpc.ts'
import { isObject, type JsonObject, otherFields } from './untrusted.ts'

const BUNDLE = [
  ...['schema', 'bundle_version', 'algorithms', 'commitment', 'files', 'envelope', 'v1_signature', 'anchor', 'log'],
]
const REDACTED = [
  ...['schema', 'redaction', 'algorithms', 'envelope', 'anchor', 'log', 'files', 'leaf_hashes', 'signing_keys'],
]
const ALGORITHMS = ['merkle', 'envelope']
const ENVELOPE = ['body', 'statement_digest', 'signature', 'issuer_pubkey', 'sig_alg']
const SIGNED_COMMITMENT = ['manifest_file_count', 'total_bytes', 'check_mode', 'attested_at']
const COUNTED_COMMITMENT = ['merkle_root', 'file_count']
const ROOT_SIGNATURE = ['manifest_signature', 'signed_message']
const ANCHOR = ['type', 'chain', 'tx', 'slot', 'fee_lamports', 'commitment', 'finalized', 'envelope_version']
const STATEMENT_ANCHOR = ['signer', 'statement_digest', 'snapshot_id', 'payload']
const LOG = ['proof', 'anchor']
const LOG_ANCHOR = ['chain', 'tx', 'slot', 'signer', 'payload', 'commitment', 'finalized']
const REGISTRY_LOCATION = ['program', 'credential', 'schema', 'nonce', 'attestation', 'mode']

/** The paths of the fields, such as `receipt_id` and `anchor.sas.replaced_previous`. */
export function uncheckedFields(parts: BundleParts, transaction: AnchorTransaction | null, log: LogCheck): string[] {
  const { document, envelope, v1Signature } = parts
  return [
    ...otherFields(document, topFields(parts)),
    ...otherFields(document.algorithms as JsonObject, ALGORITHMS, 'algorithms.'), // other values were refused
    ...uncheckedOfCommitment(parts),
    ...parts.otherRowFields,
    ...otherFields(envelope ?? {}, ENVELOPE, 'envelope.'),
    ...otherFields(v1Signature ?? {}, ROOT_SIGNATURE, 'v1_signature.'),
    ...uncheckedOfAnchor(parts, transaction),
    ...uncheckedOfLog(parts, log),
  ]
}

function topFields({ version, redaction }: BundleParts): string[] {
  if (redaction !== null) return REDACTED
  return version === 2 ? [...BUNDLE, 'proof_id'] : BUNDLE
}

/** A redacted bundle has no commitment besides its statement. */
function uncheckedOfCommitment({ version, redaction, commitment }: BundleParts): string[] {
  if (redaction !== null) return []
  const checked = version === 2 ? [...COUNTED_COMMITMENT, ...SIGNED_COMMITMENT] : COUNTED_COMMITMENT
  return otherFields(commitment, checked, 'commitment.')
}

function uncheckedOfAnchor({ anchor }: BundleParts, transaction: AnchorTransaction | null): string[] {
  if (!anchor) return []
  if (!transaction) return ['anchor']
  const { type, sas } = anchor
  const isRegistered = type === 'chain_sas_v1' && isObject(sas)
  const checked = [
    ...ANCHOR,
    ...timeOf(transaction),
    ...(type === 'oracle_v2' ? [] : STATEMENT_ANCHOR),
    ...(isRegistered ? ['sas'] : []),
  ]
  const ofRegistry = isRegistered ? otherFields(sas, REGISTRY_LOCATION, 'anchor.sas.') : []
  return [...otherFields(anchor, checked, 'anchor.'), ...ofRegistry]
}

function timeOf({ blockTime }: AnchorTransaction): string[] {
  return blockTime === null ? [] : ['block_time']
}

/** A log that is not an object has already failed. */
function uncheckedOfLog({ log }: BundleParts, { facts, transaction }: LogCheck): string[] {
  if (!isObject(log)) return []
  const { anchor } = log
  const isOpen = facts?.log_included.value === 'not_checked'
  return [
    ...otherFields(log, LOG, 'log.'),
    ...(isOpen ? ['log.proof'] : []),
    ...(isObject(anchor) && !transaction ? ['log.anchor'] : []),
    ...(isObject(anchor) && transaction
      ? otherFields(anchor, [...LOG_ANCHOR, ...timeOf(transaction)], 'log.anchor.')
      : []),
  ]
}
