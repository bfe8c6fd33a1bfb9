// Verifies two bundles while reading them, and compares their lists. Worker-safe.

import type { PinnedKey } from '@svc/verifier/pinned-keys'
import type { Chunks } from '@svc/verifier/read-bundle'
import { type VerifiedBundle, verifyBundle } from '@svc/verifier/verify-bundle'
import { type Change, compareFiles, type Differences } from './differences.ts'
import { createPackedFiles, type PackedFiles } from './packed-files.ts'

export type Side = 'before' | 'after'

export interface ComparedSide {
  /** Null for a bundle of version 1. */
  statement: { sequence: number; issuedAt: string; proofId: string } | null
  /** The reasons of failed facts: the list is then not the signed one. */
  failed: string[]
}

/** The result of a comparison; can be posted. */
export type Comparison =
  /** `why` is null for a redacted bundle, which hides files. */
  | { refused: { side: Side; why: string | null } }
  | { refused: null; before: ComparedSide; after: ComparedSide; counts: Record<Change, number> }

interface Given {
  pinnedKeys: readonly PinnedKey[]
  domainTag?: string
}

/** The differences are null if the bundles cannot be compared. */
export async function compareBundles(
  bundles: Record<Side, Chunks>,
  given: Given,
): Promise<{ comparison: Comparison; differences: Differences | null }> {
  const before = await readSide(bundles.before, given)
  if ('why' in before) return { comparison: { refused: { side: 'before', why: before.why } }, differences: null }
  const after = await readSide(bundles.after, given)
  if ('why' in after) return { comparison: { refused: { side: 'after', why: after.why } }, differences: null }
  const differences = compareFiles(before.held, after.held)
  const { counts } = differences
  return { comparison: { refused: null, before: before.side, after: after.side, counts }, differences }
}

async function readSide(
  bundle: Chunks,
  given: Given,
): Promise<{ held: PackedFiles; side: ComparedSide } | { why: string | null }> {
  const held = createPackedFiles()
  const verified = await verifyBundle(bundle, { ...given, onFiles: held.add })
  if (verified.refused) return { why: verified.refused.why }
  return verified.redacted ? { why: null } : { held, side: sideOf(verified) }
}

function sideOf({ envelope, facts, failed }: VerifiedBundle): ComparedSide {
  const whys = failed.map((name) => facts[name]).flatMap((fact) => (fact && 'why' in fact ? [fact.why] : []))
  if (!envelope) return { statement: null, failed: whys }
  const { sequence, issued_at, proof_id } = envelope.body
  return { statement: { sequence, issuedAt: issued_at, proofId: proof_id }, failed: whys }
}
