import type { DsseFacts } from '@svc/verifier/dsse'
import type { BundleFact } from '@svc/verifier/facts'

/** What each fact of a verification means when it has passed. */
export const FACT_MEANINGS: Record<BundleFact | keyof DsseFacts, string> = {
  merkle_root_matches: 'The list of files hashes to the committed root: no entry was changed, added or left out.',
  files_match: 'The files in the given folder are exactly the listed files, byte for byte.',
  statement_digest_matches: 'The text of the statement hashes to its digest.',
  envelope_binds_commitment: 'The signed statement is about this root, count and list, not about others.',
  inclusion_proven:
    'Redacted bundles only: every file that the bundle shows is in the tree with the committed root. It says nothing about other files.',
  signature_valid:
    'The statement is signed by the key it names. Alone this proves only that the bundle agrees with itself.',
  key_pinned: 'That key is one that the user of this server got from a source other than the gateway (SVC_KEYS).',
  anchor_tx_succeeded: 'A node reports that the transaction which published the statement is on chain and succeeded.',
  anchor_signer_matches:
    'That transaction is signed by the key that the anchor names; if SVC_ANCHOR_SIGNERS is set, by one of those keys.',
  anchor_payload_matches: 'The transaction publishes this statement.',
  anchor_slot_matches: 'It was published in the slot, at the time and for the fee that the bundle states.',
  anchor_finalized: 'A node reports that the transaction is final.',
  registry_matches: 'The attestation registry on chain holds this statement.',
  log_included:
    'The statement is in a public log that only grows, under a checkpoint that the log has signed; the log must be one that is known here.',
  log_cosigned: 'Enough witnesses of the given policy vouch for that checkpoint.',
  log_anchored: 'A node reports that a transaction has published that checkpoint, and that it is final.',
  dsse_signed: 'DSSE envelopes and Sigstore bundles only: a key that is trusted here has signed the envelope.',
  dsse_subjects_match: 'Its subjects, which other verifiers read, are the files of the statement in it.',
}

/** What each fact about a receipt means when it has passed. */
export const RECEIPT_FACT_MEANINGS = {
  receipt_signed:
    'A trusted key has signed this receipt: a key in SVC_KEYS or, without that setting, the key that the gateway showed first.',
  payment_on_chain: 'The gateway finds the payment on chain as the receipt states it. Only the gateway reports this.',
  bundle_names_receipt: 'The bundle belongs to the requested receipt: both are signed, and name the same proof.',
}

export const FACT_VALUES =
  '`failed` disproves the fact; `not_checked` and `unavailable` say nothing about it: ' +
  'a fact that was not checked has not passed.'
