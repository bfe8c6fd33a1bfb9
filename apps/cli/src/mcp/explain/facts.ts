import type { DsseFacts } from '@svc/verifier/dsse'
import type { BundleFact } from '@svc/verifier/facts'

/** What each fact of a verification means when it has passed. */
export const FACT_MEANINGS: Record<BundleFact | keyof DsseFacts, string> = {
  merkle_root_matches:
    'The list of files hashes to the root that was committed to: no entry was changed, added or left out.',
  files_match: 'The files in the folder given are exactly those of the list, byte for byte.',
  statement_digest_matches: 'The digest of the statement is that of its text.',
  envelope_binds_commitment: 'The signed statement is about this root, count and list, not about others.',
  inclusion_proven:
    'Of a redacted bundle: every file that it shows is in the tree whose root was committed to. It says nothing about others.',
  signature_valid:
    'The statement is signed by the key it names. Alone this proves only that the bundle agrees with itself.',
  key_pinned: 'That key is one that the operator of this server got elsewhere than from the gateway (SVC_KEYS).',
  anchor_tx_succeeded: 'A node says that the transaction which published the statement is on chain, and succeeded.',
  anchor_signer_matches:
    'That transaction is signed by the key that the anchor names; where SVC_ANCHOR_SIGNERS is set, by one of those.',
  anchor_payload_matches: 'What was published on chain is this statement.',
  anchor_slot_matches: 'It was published when and where the bundle says, for the fee that it says.',
  anchor_finalized: 'A node says that the transaction is final.',
  registry_matches: 'The attestation registry on chain holds this statement.',
  log_included:
    'The statement stands in a public log that only grows, under a checkpoint that the log has signed; which log that is must be known here.',
  log_cosigned: 'Enough witnesses of the policy that was given vouch for that checkpoint.',
  log_anchored: 'A node says that a transaction has published that checkpoint, and that it is final.',
  dsse_signed: 'Of a DSSE envelope or Sigstore bundle: a key that is trusted here has signed the envelope.',
  dsse_subjects_match: 'Its subjects, which other verifiers read, are the files of the statement in it.',
}

/** The same for the facts about a receipt. */
export const RECEIPT_FACT_MEANINGS = {
  receipt_signed:
    'A trusted key has signed this receipt: one of SVC_KEYS, or without those a key that the gateway showed first.',
  payment_on_chain: 'The gateway finds the payment on chain as the receipt states it. This is the gateway’s own word.',
  bundle_names_receipt: 'The bundle is of the receipt that was asked for: both are signed, and name the same proof.',
}

export const FACT_VALUES =
  '`failed` disproves the fact; `not_checked` and `unavailable` say nothing about it: ' +
  'what was not checked has not passed.'
