import { readFileSync } from 'node:fs'
import { foldProof, leafHash, merkleLevels, merkleProof, merkleRoot } from '@svc/protocol/merkle'
import { sortedByFilename } from '@svc/protocol/order'
import { sha256Hex } from '@svc/protocol/sha256'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareBundles } from '../src/pages/verify/pictures/compare-bundles.ts'
import { compareFiles } from '../src/pages/verify/pictures/differences.ts'
import { createPathFinder, isLinkedToStatement, pathOfProof } from '../src/pages/verify/pictures/merkle-path.ts'
import { createPackedFiles } from '../src/pages/verify/pictures/packed-files.ts'

const leavesOf = (count: number) => Array.from({ length: count }, (_, i) => sha256Hex(String(i)))
const finderOf = (leaves: readonly string[]) => createPathFinder(leaves.length, (i) => leaves[i] as string)

describe('the path of a leaf', () => {
  it('MERK-19 MERK-20 leads to the root of the protocol, and its siblings cover all the other files', {
    tags: ['nightly'],
  }, () => {
    const count = fc.oneof(fc.integer({ min: 1, max: 130 }), fc.constantFrom(1023, 1024, 1025, 2047, 2048, 2049, 3000))
    fc.assert(
      fc.property(count, fc.nat(), (leafCount, any) => {
        const leaves = leavesOf(leafCount)
        const index = any % leafCount
        const path = finderOf(leaves).find(index)
        expect(path).toMatchObject({ root: merkleRoot(leaves), problem: null })
        const proof = path.steps.map(({ sibling, side }) => ({ hash: sibling, position: side }))
        expect(proof).toEqual(merkleProof(merkleLevels(leaves), index))
        expect(foldProof(path.leaf, proof)).toBe(path.root)
        const behind = path.steps.reduce((sum, { behind: b }) => sum + (b ? b.last - b.first + 1 : 0), 0)
        expect(behind).toBe(leafCount - 1)
        expect(path.steps.every(({ isRepeated, behind: b }) => isRepeated === (b === null))).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it('T-38 does not lead to a statement if any part of the proof differs', () => {
    const leaves = leavesOf(5)
    const statementRoot = merkleRoot(leaves)
    const proof = merkleProof(merkleLevels(leaves), 4)
    const shown = (claimed: Partial<Parameters<typeof pathOfProof>[0]>, root: string | null = statementRoot) => {
      const path = pathOfProof({ leaf: leaves[4] as string, index: 4, leafCount: 5, proof, ...claimed })
      return [path.problem, isLinkedToStatement({ path, file: null, siblings: 'given', statementRoot: root })]
    }
    expect(shown({})).toEqual([null, true])
    expect(shown({}, null)).toEqual([null, false])
    expect(shown({}, sha256Hex('other'))).toEqual([null, false])
    expect(shown({ leaf: leaves[3] as string })).toEqual(['not_repeated', false])
    expect(shown({ index: 5 })).toEqual(['no_such_leaf', false])
    expect(shown({ index: 3 })).toEqual(['wrong_side', false])
    expect(shown({ leafCount: 6 })).toEqual(['repeated', false])
    expect(shown({ leafCount: 9 })).toEqual(['wrong_length', false])
    expect(shown({ proof: proof.slice(1) })).toEqual(['wrong_length', false])
    expect(shown({ proof: proof.map((step) => ({ ...step, hash: 'AB' })) })).toEqual(['malformed', false])
    expect(() => finderOf(leaves).find(5)).toThrow(RangeError)
    expect(() => finderOf([])).toThrow(RangeError)
  })
})

const entry = fc.record({
  filename: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }),
  size_bytes: fc.nat({ max: 3 }),
  content_hash: fc.integer({ min: 0, max: 9 }).map((i) => sha256Hex(String(i))),
})
const list = fc.uniqueArray(entry, { selector: ({ filename }) => filename, maxLength: 30 }).map(sortedByFilename)
const holding = (files: ReturnType<typeof sortedByFilename<fcEntry>>) => {
  const held = createPackedFiles()
  held.add(files)
  return held
}
type fcEntry = { filename: string; size_bytes: number; content_hash: string }
const EVERYTHING = {
  changes: ['added', 'changed', 'removed', 'renamed', 'unchanged'],
  text: '',
  from: 0,
  limit: 1000,
} as const

describe('the differences of two statements', () => {
  it('T-38 list every file of both statements once, and call only files with equal content renamed', () => {
    fc.assert(
      fc.property(list, list, (before, after) => {
        const { counts, rows } = compareFiles(holding(before), holding(after))
        const all = rows(EVERYTHING)
        expect(all.matching).toBe(Object.values(counts).reduce((a, b) => a + b))
        const names = (side: 'before' | 'after') =>
          sortedByFilename(all.rows.flatMap((row) => row[side] ?? [])) as fcEntry[]
        expect(names('before')).toEqual(before)
        expect(names('after')).toEqual(after)
        for (const { change, before: old, after: fresh } of all.rows) {
          const isSameName = old?.filename === fresh?.filename
          const isSameContent = old?.content_hash === fresh?.content_hash && old?.size_bytes === fresh?.size_bytes
          expect(change).toBe(
            !old ? 'added' : !fresh ? 'removed' : !isSameName ? 'renamed' : isSameContent ? 'unchanged' : 'changed',
          )
          if (change === 'renamed') expect(isSameContent).toBe(true)
        }
        const contentsOf = (kind: string, side: 'before' | 'after') =>
          all.rows
            .filter(({ change }) => change === kind)
            .map((row) => `${row[side]?.size_bytes}${row[side]?.content_hash}`)
        const cameAgain = contentsOf('added', 'after').filter((content) =>
          contentsOf('removed', 'before').includes(content),
        )
        expect(cameAgain).toEqual([])
      }),
      { numRuns: 200 },
    )
  })

  it('T-38 can be filtered by kind and by part of a name, a page at a time', () => {
    const file = (filename: string, content = filename) => ({
      filename,
      size_bytes: 1,
      content_hash: sha256Hex(content),
    })
    const before = sortedByFilename([file('a.txt'), file('b.txt'), file('old/Photo.jpg', 'photo'), file('same')])
    const after = sortedByFilename([file('a.txt', 'new'), file('c.txt'), file('new/photo.jpg', 'photo'), file('same')])
    const { counts, rows } = compareFiles(holding(before), holding(after))
    expect(counts).toEqual({ added: 1, changed: 1, removed: 1, renamed: 1, unchanged: 1 })
    const found = (query: Partial<Parameters<typeof rows>[0]>) => {
      const { rows: some, matching } = rows({ ...EVERYTHING, ...query })
      return [some.map(({ before: old, after: fresh }) => [old?.filename, fresh?.filename]), matching]
    }
    expect(found({ changes: ['renamed'] })).toEqual([[['old/Photo.jpg', 'new/photo.jpg']], 1])
    expect(found({ text: 'OLD' })).toEqual([[['old/Photo.jpg', 'new/photo.jpg']], 1])
    expect(found({ from: 1, limit: 2 })).toEqual([
      [
        ['b.txt', undefined],
        [undefined, 'c.txt'],
      ],
      5,
    ])
    expect(holding(before).leafAt(0)).toBe(leafHash(file('a.txt')))
  })
})

describe('two bundles', () => {
  const bundle = (name: string) => [readFileSync(new URL(`../../../vectors/bundles/${name}.json`, import.meta.url))]
  const compare = async (before: string, after: string) =>
    (await compareBundles({ before: bundle(before), after: bundle(after) }, { pinnedKeys: [] })).comparison

  it('T-38 are compared, with the failed checks of each', async () => {
    const { refused, ...rest } = await compare('chain-1', 'chain-3')
    expect(refused).toBeNull()
    expect(rest).toMatchObject({
      before: { statement: { sequence: 1 }, failed: [] },
      after: { statement: { sequence: 3, issuedAt: '2026-06-12T03:00:00Z' }, failed: [] },
      counts: { added: 2, changed: 0, removed: 0, renamed: 0, unchanged: 1 },
    })
    const altered = await compare('chain-1', 'list-renamed')
    if (altered.refused) throw new Error('refused')
    expect(altered.after.failed).toContain('the Merkle root of the files is not that of the commitment')
  })

  it('T-38 are refused if one is not a bundle or does not show all files', async () => {
    expect(await compare('redacted-chosen', 'chain-1')).toEqual({ refused: { side: 'before', why: null } })
    expect(await compare('chain-1', 'redacted-no-names')).toEqual({ refused: { side: 'after', why: null } })
    const { refused } = await compare('chain-1', 'list-twice-apart')
    expect(refused).toMatchObject({ side: 'after', why: expect.stringContaining('occurs twice') })
  })
})
