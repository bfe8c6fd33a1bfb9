import { DSSE_FACTS } from '@svc/verifier/dsse'
import { BUNDLE_FACTS, RECEIPT_FACTS } from '@svc/verifier/facts'

/** All facts that `svc verify` may report. */
export const FACTS = [...BUNDLE_FACTS, ...DSSE_FACTS, ...RECEIPT_FACTS]

/** What each fact means when it has passed. */
export const FACT_MEANINGS: Record<(typeof FACTS)[number], string> = {
  merkle_root_matches: 'the list of files has the root that the bundle commits to',
  files_match: 'the files of --dir are the listed files, byte for byte',
  statement_digest_matches: 'the statement has the signed digest',
  envelope_binds_commitment: 'the signed statement is about this list and no other',
  signature_valid: 'the statement is signed by the key that it names',
  key_pinned: 'you have pinned that key (--keys, `svc keys pin`), and it was in use',
  inclusion_proven: 'every file that a redacted bundle shows is in the signed list',
  anchor_tx_succeeded: 'the transaction of the anchor is on chain, and succeeded',
  anchor_signer_matches: 'the publication key that the anchor names has signed it',
  anchor_payload_matches: 'it publishes this statement',
  anchor_slot_matches: 'it was published when and where the bundle states',
  anchor_finalized: 'it is final',
  registry_matches: 'the attestation registry on chain has this statement',
  log_included: 'the statement is in a public log that you know',
  log_cosigned: 'enough witnesses of --policy vouch for the log',
  log_anchored: 'a checkpoint of the log is on chain, and final',
  dsse_signed: 'a pinned key has signed the DSSE envelope',
  dsse_subjects_match: 'its subjects are the files of the statement in it',
  receipt_signature_valid: 'the receipt is signed by the key that it names',
  receipt_id_matches: 'its id follows from its quote and payment',
  receipt_key_pinned: 'its key is pinned, and was in use',
  receipt_is_of_bundle: 'the receipt and the statement name the same proof',
}
