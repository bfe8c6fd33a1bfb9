// Every identifier that contains the service's name, and every fixed word of the signed formats.

import { asciiBytes } from './bytes.ts'

export const HEADER_ENVELOPE = 'X-Svc-Envelope'
export const HEADER_SIGNATURE = 'X-Svc-Signature'
/** Names the caller of the agent service in requests without an envelope. */
export const HEADER_IDENTITY = 'X-Svc-Identity'

export const EVIDENCE_SCHEMA = 'svc/evidence/v2'
export const SNAPSHOT_DOMAIN = 'svc/snapshot/v2'
export const ANCHOR_SCHEMA = 'svc/anchor/v2'
export const LOG_ANCHOR_SCHEMA = 'svc/log-anchor/v1'
export const EVIDENCE_BUNDLE_SCHEMA = 'svc/evidence-bundle/v2'
export const REDACTED_BUNDLE_SCHEMA = 'svc/redacted-evidence-bundle/v1'
/** The predicate type of in-toto: a URI without a host, which cannot be lost like a domain. See docs/predicate.md. */
export const EVIDENCE_PREDICATE_TYPE = 'urn:svc:evidence-predicate:v1'
export const SIGNING_KEYS_SCHEMA = 'svc/signing-keys/v1'
export const KEY_ENDORSEMENT_SCHEMA = 'svc/key-endorsement/v1'
export const KEY_REVOCATION_SCHEMA = 'svc/key-revocation/v1'
export const MERKLE_ALGORITHM = 'svc-merkle-v1'
export const QUOTE_SCHEMA = 'svc_quote_v4'
export const REGISTRY_SCHEMA_NAME = 'svc.content.v2'
export const REGISTRY_NONCE_PREFIX = 'svc/sas-nonce/v1|'
export const RECEIPT_ID_PREFIX = 'svc/receipt-id/v1|'
export const PAYMENT_REFERENCE_PREFIX = 'svc/payment-reference/v1|'
export const SOLANA_PAY_PREFIX = 'svc/solana-pay-reference/v1|'
export const MPP_CHALLENGE_PREFIX = 'svc/mpp-challenge/v1|'
export const RECEIPT_TAG = 'SVC_RECEIPT_V1'
export const RECEIPT_CLAIM_TAG = 'SVC_RECEIPT_CLAIM_V1'
export const PURCHASE_KEY_TAG = 'SVC_PURCHASE_KEY_V1'
export const ENCRYPTION_KEY_TAG = 'SVC_ENCRYPTION_KEY_V1'
export const FINDING_TAG = 'SVC_AGENT_FINDING_V1'
export const KEY_ENDORSEMENT_TAG = 'SVC_KEY_ENDORSEMENT_V1'
export const KEY_REVOCATION_TAG = 'SVC_KEY_REVOCATION_V1'
export const SIGNER_CHECK_TAG = 'SVC_SIGNER_CHECK_V1'

export const MERKLE_VERSION = '1.0'
export const EVIDENCE_VERSION = '2.0'
export const INTERFACE_VERSION = '1.0.0'
export const CONTRACT_VERSION = '2026-06-12'
export const BUNDLE_VERSIONS = [1, 2] as const
export const ANCHOR_ENVELOPE_VERSIONS = [1, 2] as const

export const OPS = [
  'locker:provision',
  'locker:refresh',
  'locker:read',
  'locker:list',
  'locker:write',
  'locker:admin',
  'locker:attest',
] as const
export type Op = (typeof OPS)[number]

/** The purposes of pinned gateway keys, and the uses of each in a signing-key list. */
export const KEY_PURPOSES = { statement: ['receipt', 'attestation', 'evidence-envelope'] } as const
export type KeyPurpose = keyof typeof KEY_PURPOSES

/** Separates statement signatures from everything else that the statement key signs (EVID-17). */
export const DEFAULT_DOMAIN_TAG = 'SVCGW_CONTENT_ENVELOPE_V2'
export const DOMAIN_TAG_BYTES = 25

/** The bytes of a domain tag; null unless it is exactly 25 printable ASCII characters. */
export function domainTagBytes(tag: string): Uint8Array | null {
  return tag.length === DOMAIN_TAG_BYTES && /^[\x20-\x7e]+$/.test(tag) ? asciiBytes(tag) : null
}
