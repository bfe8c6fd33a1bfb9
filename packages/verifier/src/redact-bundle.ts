// Turns a full evidence bundle into a redacted one without a gateway (ADD-18). Only a consistent bundle is redacted,
// and only known fields get into the result.

import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import { lockerId } from '@svc/protocol/ids'
import { createLeafProver, type LeafProof } from '@svc/protocol/leaf-prover'
import { type FileEntry, leafHash } from '@svc/protocol/merkle'
import { DEFAULT_DOMAIN_TAG, REDACTED_BUNDLE_SCHEMA } from '@svc/protocol/names'
import { type Redaction, redactedHead, type ShownFile } from '@svc/protocol/redacted-bundle'
import { formatNote } from '@svc/protocol/transparency/note'
import { formatProof } from '@svc/protocol/transparency/proof'
import { envelopeBindsCommitment, merkleRootMatches, statementDigestMatches } from './envelope-facts.ts'
import type { Fact } from './facts.ts'
import type { CountedFiles } from './file-list.ts'
import { notInTree, readLogProof } from './log-facts.ts'
import { followedKeys, listedChanges, type PinnedKey } from './pinned-keys.ts'
import { type BundleParts, type Chunks, readBundle } from './read-bundle.ts'
import { signatureFacts } from './signature-facts.ts'
import { isObject, type JsonObject, quoted, type Refusal, RefusedBundle } from './untrusted.ts'

export interface RedactionOptions {
  /** The files to show. Without it, the leaves of all files are shown, without names. */
  filenames?: readonly string[]
  /** Keys that may have signed the statement, besides the key that it names. */
  pinnedKeys?: readonly PinnedKey[]
  /** 25 characters. Needed if the gateway does not use the default tag. */
  domainTag?: string
}

type Write = (text: string) => Promise<void> | void

type RedactionRefusal =
  | Refusal
  | { code: 'already_redacted' | 'no_statement' | 'not_valid' | 'file_not_listed' | 'names_receipt'; why: string }

export type RedactedBundle =
  | { refused: null; redaction: Redaction; shown: number; total: number }
  | { refused: RedactionRefusal }

class RefusedRedaction extends Error {
  readonly refusal: RedactionRefusal

  constructor(code: RedactionRefusal['code'], why: string) {
    super(why)
    this.refusal = { code, why } as RedactionRefusal
  }
}

/**
 * Writes the redacted bundle to `write` as text in pieces. Output before a refusal must be discarded. The whole list is
 * never in memory. Throws only errors of `bundle` and `write`.
 */
export async function redactBundle(
  bundle: Chunks,
  write: Write,
  options: RedactionOptions = {},
): Promise<RedactedBundle> {
  try {
    return await (options.filenames
      ? showFiles(bundle, write, options, options.filenames)
      : showLeaves(bundle, write, options))
  } catch (error) {
    if (error instanceof RefusedRedaction) return { refused: error.refusal }
    if (error instanceof RefusedBundle) return { refused: { code: error.code, why: error.message } }
    throw error
  }
}

async function showFiles(bundle: Chunks, write: Write, options: RedactionOptions, filenames: readonly string[]) {
  const wanted = new Set(filenames)
  const prover = createLeafProver()
  const shown: ShownFile[] = []
  const parts = await readBundle(bundle, async (files) => {
    for (const file of files) {
      const leaf = leafHash(file)
      if (wanted.delete(file.filename)) shown.push(shownFile(file, prover.prove(leaf)))
      else prover.add(leaf)
    }
  })
  const head = headOf(parts, 'chosen_files', options)
  const [missing] = wanted
  if (missing !== undefined) throw new RefusedRedaction('file_not_listed', `the bundle lists no ${quoted(missing)}`)
  if (shown.length === 0) throw new RefusedRedaction('empty_file_list', 'no file was chosen')
  prover.end()
  requireNoReceipt(parts, shown)
  await write(`${JSON.stringify(head).slice(0, -1)},"files":[`)
  for (const [i, file] of shown.entries()) await write((i > 0 ? ',' : '') + JSON.stringify(file))
  await write(']}')
  return outcome(head.redaction, parts, shown.length)
}

/** The proof is complete after the end of the prover. */
function shownFile({ filename, size_bytes, content_hash }: FileEntry, { index, proof }: LeafProof): ShownFile {
  return { filename, size_bytes, content_hash, leaf_index: index, proof }
}

/** The number of leaves that are written as one text. */
const CHUNK_LEAVES = 1000

async function showLeaves(bundle: Chunks, write: Write, options: RedactionOptions) {
  // The rest is known only after the whole bundle was read, so the list is written first.
  let separator = `{"schema":"${REDACTED_BUNDLE_SCHEMA}","redaction":"no_names","leaf_hashes":[`
  const parts = await readBundle(bundle, async (files) => {
    for (let start = 0; start < files.length; start += CHUNK_LEAVES) {
      const leaves = files.slice(start, start + CHUNK_LEAVES).map((file) => `"${leafHash(file)}"`)
      await write(separator + leaves.join())
      separator = ','
    }
  })
  const { schema: _, redaction, ...rest } = headOf(parts, 'no_names', options)
  await write(`],${JSON.stringify(rest).slice(1)}`)
  return outcome(redaction, parts, 0)
}

function outcome(redaction: Redaction, parts: BundleParts, shown: number) {
  return { refused: null, redaction, shown, total: Number(parts.commitment.file_count) }
}

function headOf(parts: BundleParts, redaction: Redaction, options: RedactionOptions) {
  const { pinnedKeys = [], domainTag = DEFAULT_DOMAIN_TAG } = options
  if (parts.redaction !== null) throw new RefusedRedaction('already_redacted', 'the bundle is already redacted')
  const { envelope, anchor, document } = parts
  if (!envelope) throw new RefusedRedaction('no_statement', 'a version-1 bundle has no statement to redact')
  requireValid(parts, parts.files, signatureFacts(parts, followedKeys({ pinnedKeys }, null), domainTag).signature_valid)
  const absence = document.anchor_absence as object | null | undefined
  const statement = envelope as unknown as EvidenceEnvelope // its digest and signature are valid
  const stated = {
    envelope: statement,
    anchor,
    anchor_absence: absence ?? undefined,
    log: shownLog(parts, statement),
    key_changes: listedChanges(parts.signingKeys),
  }
  const head = redactedHead(redaction, stated, domainTag)
  requireNoReceipt(parts, head)
  return head
}

function requireValid(parts: BundleParts, files: CountedFiles, signature_valid: Fact): void {
  const facts = {
    merkle_root_matches: merkleRootMatches(parts, files),
    statement_digest_matches: statementDigestMatches(parts),
    envelope_binds_commitment: envelopeBindsCommitment(parts, files),
    signature_valid,
  }
  for (const [name, fact] of Object.entries(facts)) {
    if (fact.value !== 'passed') throw new RefusedRedaction('not_valid', `${name} failed: ${fact.why}`)
  }
}

/** The proof and its anchor, without any other field. */
function shownLog({ log }: BundleParts, statement: EvidenceEnvelope) {
  if (log === null) return undefined
  const proof = readLogProof(log)
  const problem = typeof proof === 'string' ? proof : notInTree(proof, statement)
  if (typeof proof === 'string' || problem !== null)
    throw new RefusedRedaction('not_valid', `log_included failed: ${problem}`)
  const { anchor } = log as JsonObject // it has a proof
  const { index, hashes, checkpoint } = proof
  return { proof: formatProof(index, hashes, formatNote(checkpoint.note)), anchor: isObject(anchor) ? anchor : null }
}

/** A filename or an anchor could contain the receipt id. */
function requireNoReceipt({ receiptId }: BundleParts, value: unknown): void {
  if (typeof receiptId !== 'string' || receiptId === '') return
  const text = JSON.stringify(value)
  if ([receiptId, lockerId(receiptId)].some((id) => text.includes(JSON.stringify(id).slice(1, -1))))
    throw new RefusedRedaction('names_receipt', 'the redacted bundle would contain the id of the receipt or its locker')
}
