// Builds files in the form that a locker lists them.

import { hash } from 'node:crypto'
import { sortedByFilename } from '@svc/protocol/order'
import { HOSTILE_FILENAMES } from '@svc/protocol/test/filenames'
import fc from 'fast-check'
import type { SnapshotFile } from '../../../src/evidence/snapshots/chunk-content.ts'

/** A file whose contents derive from its name. */
export function fileNamed(filename: string): SnapshotFile {
  return {
    filename,
    size_bytes: filename.length,
    content_hash: `sha256:${hash('sha256', filename)}`,
    content_type: filename.length % 3 === 0 ? 'image/png' : 'text/plain; charset=utf-8',
  }
}

/** Files in code-point order. */
export function manyFiles(count: number): SnapshotFile[] {
  return Array.from({ length: count }, (_, i) => fileNamed(`folder/${String(i).padStart(7, '0')}.txt`))
}

export const hostileNames = HOSTILE_FILENAMES.filter(({ accepted }) => accepted).map(({ name }) => name)

const anyFile: fc.Arbitrary<SnapshotFile> = fc.record({
  filename: fc.oneof(
    fc.constantFrom(...hostileNames),
    // PostgreSQL cannot store U+0000, and the gateway accepts no name with it.
    fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }).map((name) => name.replaceAll('\0', '0')),
  ),
  size_bytes: fc.oneof(fc.nat(), fc.constantFrom(0, Number.MAX_SAFE_INTEGER)),
  content_hash: fc.nat().map((n) => `sha256:${hash('sha256', String(n))}`),
  content_type: fc.constantFrom('text/plain', 'image/png', 'application/json; charset="utf-8"'),
})

/** Files with different names, in code-point order. */
export const anyFiles = fc
  .uniqueArray(anyFile, { minLength: 1, maxLength: 400, selector: ({ filename }) => filename })
  .map(sortedByFilename)
