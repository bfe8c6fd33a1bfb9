// A case of the pack: a document, the verifier's other inputs, and the expected result.

import type { Json, JsonObject } from './formats.ts'
import { STATEMENT_KEY } from './keys.ts'

export const FACTS = [
  'merkle_root_matches',
  'files_match',
  'statement_digest_matches',
  'envelope_binds_commitment',
  'signature_valid',
  'key_pinned',
  'anchor_tx_succeeded',
  'anchor_signer_matches',
  'anchor_payload_matches',
  'anchor_slot_matches',
  'anchor_finalized',
  'registry_matches',
] as const
/** Only about redacted bundles, and about those with a proof of a log. */
type OtherFact = 'inclusion_proven' | 'log_included' | 'log_cosigned' | 'log_anchored'
export type FactName = (typeof FACTS)[number]
export type FactValue = 'passed' | 'failed' | 'not_checked' | 'unavailable'
export type Facts = Partial<Record<FactName | OtherFact, FactValue>>

export interface GivenInPack {
  /** Public keys in hex, or a signing-key list. */
  pinned_keys?: string[] | JsonObject
  pinned_signers?: string[]
  domain_tag?: string
  /** The address of the gateway whose keys are pinned. */
  audience?: string
  /** Keys of logs in their exchange form: `name+hash+base64`. */
  log_keys?: string[]
  /** The text of a policy. */
  policy?: string
  /** The name of a file with recorded answers of a node. */
  rpc?: string
  /** A folder: names and texts. */
  files?: Record<string, string>
}

export interface Case {
  /** The document's file is named after it. */
  name: string
  what: string
  /** Text and bytes are written unchanged. Absent: the document of `of`. */
  document?: JsonObject | string | Uint8Array
  /** The case whose document this one verifies with other inputs. */
  of?: string
  given?: GivenInPack
  /** Answers of a node, recorded under the case's own name. */
  rpc?: RpcAnswer[]
  /** Facts that differ from those of a valid version-2 bundle under its pinned key, or why there are none. */
  expect: Facts | { refused: string }
}

export interface RpcAnswer {
  method: string
  params: Json[]
  result?: Json
  error?: { code: number; message: string }
}

export const PINNED: GivenInPack = { pinned_keys: [STATEMENT_KEY.hex] }

const UNTOUCHED: Record<FactName, FactValue> = {
  merkle_root_matches: 'passed',
  files_match: 'not_checked',
  statement_digest_matches: 'passed',
  envelope_binds_commitment: 'passed',
  signature_valid: 'passed',
  key_pinned: 'passed',
  anchor_tx_succeeded: 'not_checked',
  anchor_signer_matches: 'not_checked',
  anchor_payload_matches: 'not_checked',
  anchor_slot_matches: 'not_checked',
  anchor_finalized: 'not_checked',
  registry_matches: 'not_checked',
}

export function expected({ expect }: Case): Record<string, string> {
  return 'refused' in expect ? expect : { ...UNTOUCHED, ...expect }
}

export const OF_V1 = { statement_digest_matches: 'not_checked', envelope_binds_commitment: 'not_checked' } as const
export const UNSIGNED = { signature_valid: 'failed', key_pinned: 'failed' } as const
