// The files of a checked bundle, which the page lists and draws paths for. They stay in the worker.

import { bare, fromHex, toHex } from '@svc/protocol/bytes'
import type { ProofStep } from '@svc/protocol/merkle'
import type { PlacedFile } from '@svc/verifier/inclusion'
import type { VerifiedBundle } from '@svc/verifier/verify-bundle'
import { createPathFinder, type PathFinder, pathOfProof, type ShownProof } from '../pictures/merkle-path.ts'
import { createPackedFiles, type PackedFiles } from '../pictures/packed-files.ts'
import type { FilePage, FileQuery } from './messages.ts'

export interface BundleFiles {
  readonly held: PackedFiles
  /** The leaves of a bundle without names. */
  readonly leaves: PackedLeaves
  addFiles(files: readonly PlacedFile[]): void
  addLeaves(leaves: readonly string[]): void
  /** Call after all files were added. */
  end(verified: Pick<VerifiedBundle, 'counted' | 'envelope' | 'redacted'>): void
  page(query: FileQuery): FilePage
  path(index: number): ShownProof | null
}

/** The number of proofs of a redacted bundle that are stored for pictures. */
const MAX_PROOFS = 10_000

export function createBundleFiles(): BundleFiles {
  const held = createPackedFiles()
  const leaves = createPackedLeaves()
  const given: { leafIndex: number; proof: readonly ProofStep[] }[] = []
  let finder: PathFinder | null = null
  let about: { statementRoot: string | null; leafCount: number | null } = { statementRoot: null, leafCount: null }

  function computed(index: number): ShownProof | null {
    if (!finder) return null
    const file = held.count > 0 ? held.at(index) : null
    return { path: finder.find(index), file, siblings: 'computed', statementRoot: about.statementRoot }
  }

  function asGiven(index: number): ShownProof | null {
    const placed = given[index]
    if (!placed || about.leafCount === null) return null
    const { leafIndex, proof } = placed
    const path = pathOfProof({ leaf: held.leafAt(index), index: leafIndex, leafCount: about.leafCount, proof })
    return { path, file: held.at(index), siblings: 'given', statementRoot: about.statementRoot }
  }

  return {
    held,
    leaves,
    addFiles(files) {
      held.add(files)
      for (const { leafIndex, proof } of files)
        if (leafIndex !== undefined && proof && given.length < MAX_PROOFS) given.push({ leafIndex, proof })
    },
    addLeaves: leaves.add,
    end({ counted, envelope, redacted }) {
      const statementRoot = envelope ? bare(envelope.body.merkle_root) : null
      about = { statementRoot, leafCount: envelope?.body.file_count ?? null }
      const { blockNodes, files } = counted
      if (!blockNodes) return
      const leafAt = redacted?.redaction === 'no_names' ? leaves.at : held.leafAt
      finder = createPathFinder(files, leafAt, blockNodes)
    },
    page({ offset, limit, search }) {
      if (held.count === 0) return leaves.page(offset, limit)
      const lower = search.toLowerCase()
      if (lower === '') {
        const length = Math.max(0, Math.min(limit, held.count - offset))
        return { total: held.count, rows: Array.from({ length }, (_, i) => rowAt(offset + i)) }
      }
      const rows: FilePage['rows'] = []
      let total = 0
      for (let index = 0; index < held.count; index++) {
        if (!held.filename(index).toLowerCase().includes(lower)) continue
        if (total >= offset && rows.length < limit) rows.push(rowAt(index))
        total++
      }
      return { total, rows }
    },
    path: (index) => computed(index) ?? asGiven(index),
  }

  function rowAt(index: number) {
    return { index, file: held.at(index), leaf: null }
  }
}

const HASH_BYTES = 32

interface PackedLeaves {
  add(leaves: readonly string[]): void
  at(index: number): string
  readonly count: number
  page(offset: number, limit: number): FilePage
}

function createPackedLeaves(): PackedLeaves {
  let bytes = new Uint8Array(1024 * HASH_BYTES)
  let count = 0
  const at = (index: number) => toHex(bytes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES))
  return {
    at,
    get count() {
      return count
    },
    add(leaves) {
      const needed = (count + leaves.length) * HASH_BYTES
      if (needed > bytes.length) {
        const larger = new Uint8Array(Math.max(needed, bytes.length * 2))
        larger.set(bytes)
        bytes = larger
      }
      for (const leaf of leaves) bytes.set(fromHex(leaf) as Uint8Array, HASH_BYTES * count++) // the reader takes hex only
    },
    page(offset, limit) {
      const length = Math.max(0, Math.min(limit, count - offset))
      const rows = Array.from({ length }, (_, i) => ({ index: offset + i, file: null, leaf: at(offset + i) }))
      return { total: count, rows }
    },
  }
}
