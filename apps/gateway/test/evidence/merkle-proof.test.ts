import type { VerifyAnswer } from '@svc/api/evidence'
import type { InclusionProof } from '@svc/api/proofs'
import { forEachDatabase } from '@svc/devnet/databases'
import { bare, withPrefix } from '@svc/protocol/bytes'
import { foldProof, leafHash, treeDepth } from '@svc/protocol/merkle'
import { sortedByFilename } from '@svc/protocol/order'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectRefusal } from '../auth/lockers.ts'
import { chainOfThree, type EvidenceHouse, memoAnchor, openEvidenceHouse } from './evidence-house.ts'
import { seedNamedFiles } from './seed-named-files.ts'

const PROOF = '/v1/storage/merkle-proof'

function expectProof(proof: InclusionProof): void {
  expect(proof.leaf_hash).toBe(leafHash(proof.file_entry))
  expect(withPrefix(foldProof(proof.leaf_hash, proof.proof))).toBe(proof.merkle_root)
  expect(proof.proof).toHaveLength(proof.tree_depth)
  expect(proof.tree_depth).toBe(treeDepth(proof.file_count))
  expect(proof.schema_version).toBe('1.0')
}

forEachDatabase('inclusion proofs', (database) => {
  let house: EvidenceHouse
  const prove = (receipt_id: string, filename: string, query = {}) =>
    house.get<InclusionProof>(PROOF, { receipt_id, filename, ...query })
  beforeAll(async () => {
    house = await openEvidenceHouse({ DATABASE_URL: database.url })
  })
  afterAll(() => house.close())

  it('MERK-17 MERK-18 MERK-19 AMB-84 SHAPE-38 ANCH-05 answers an inclusion proof with all fields', async () => {
    const locker = await house.listed(5)
    const { record, anchor } = await house.state(locker, { anchor: (envelope) => memoAnchor(envelope) })
    const filename = 'folder-0000/file-0000003.txt'
    const { leaf_hash, proof, file_entry, ...rest } = await prove(locker.receipt_id, filename)
    expect(rest).toEqual({
      receipt_id: locker.receipt_id,
      filename,
      leaf_index: 3,
      merkle_root: record.merkle_root,
      tree_depth: 3,
      file_count: 5,
      schema_version: '1.0',
      anchor,
    })
    expect(file_entry).toEqual({ filename, size_bytes: 100, content_hash: expect.stringMatching(/^sha256:/) })
    expectProof({ ...rest, leaf_hash, proof, file_entry } as InclusionProof)
  })

  it('MERK-20 repeats a lone last node as its right sibling, and has a single file as the root', async () => {
    const three = await house.listed(3)
    await house.state(three)
    const last = await prove(three.receipt_id, 'folder-0000/file-0000002.txt')
    expect(last.proof[0]).toEqual({ hash: last.leaf_hash, position: 'right' })
    expectProof(last)
    const one = await house.listed(1)
    await house.state(one)
    const only = await prove(one.receipt_id, 'folder-0000/file-0000000.txt')
    expect(only).toMatchObject({ proof: [], tree_depth: 0, leaf_index: 0, file_count: 1 })
    expect(only.merkle_root).toBe(withPrefix(only.leaf_hash))
  })

  it('MERK-19 proves every file of a locker, and refuses any other name', async () => {
    const name = fc
      .string({ unit: 'grapheme-composite', minLength: 1, maxLength: 12 })
      .filter((text) => !/[\0:]/.test(text))
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(name, { minLength: 1, maxLength: 40 }), async (names) => {
        const locker = await house.listed(0)
        await seedNamedFiles(house.gateway.context, locker.locker_id, names)
        const { record } = await house.state(locker)
        const sorted = sortedByFilename(names.map((filename) => ({ filename })))
        for (const [i, { filename }] of sorted.entries()) {
          const proof = await prove(locker.receipt_id, filename)
          expect(proof).toMatchObject({ filename, leaf_index: i, merkle_root: record.merkle_root })
          expectProof(proof)
        }
        const absent = `${sorted[0]?.filename}x-absent`
        expectRefusal(
          await house.read(PROOF, { receipt_id: locker.receipt_id, filename: absent }),
          404,
          'FILE_NOT_ATTESTED',
        )
      }),
      { numRuns: 12 },
    )
  })

  it('MERK-19 proves files of a locker with several blocks of leaves', async () => {
    const locker = await house.listed(2500)
    const { record } = await house.state(locker)
    for (const index of [0, 1, 1023, 1024, 2047, 2048, 2498, 2499]) {
      const number = String(index).padStart(7, '0')
      const proof = await prove(locker.receipt_id, `folder-${number.slice(0, 4)}/file-${number}.txt`)
      expect(proof).toMatchObject({ leaf_index: index, merkle_root: record.merkle_root, tree_depth: 12 })
      expectProof(proof)
    }
  })

  it('MERK-18 proves a file of an earlier statement', async () => {
    const locker = await chainOfThree(house)
    const { receipt_id } = locker
    await locker.put('a.txt', 'something else')
    await house.state(locker)
    const [then, now] = [await prove(receipt_id, 'a.txt', { sequence: 1 }), await prove(receipt_id, 'a.txt')]
    expect([then.file_entry.size_bytes, now.file_entry.size_bytes]).toEqual([3, 14])
    for (const proof of [then, now]) expectProof(proof)
    const { attestation } = await house.get<VerifyAnswer>('/v1/storage/verify', { receipt_id, sequence: 1 })
    expect(bare(then.merkle_root)).toBe(bare(attestation?.merkle_root as string))
    expectRefusal(await house.read(PROOF, { receipt_id, filename: 'b.txt', sequence: 1 }), 404, 'FILE_NOT_ATTESTED')
    expectRefusal(await house.read(PROOF, { receipt_id, filename: 'a.txt', sequence: 9 }), 404, 'statement_not_found')
  })

  it('MERK-17 SHAPE-38 refuses a proof without a statement, a known receipt or a filename', async () => {
    const { receipt_id } = await house.listed(1)
    const filename = 'folder-0000/file-0000000.txt'
    expectRefusal(await house.read(PROOF, { receipt_id, filename }), 409, 'attestation_not_available')
    expectRefusal(await house.read(PROOF, { receipt_id: 'rcpt_none', filename }), 404, 'receipt_not_found')
    for (const query of [{ receipt_id }, { filename }, { receipt_id, filename: '' }, {}]) {
      expectRefusal(await house.read(PROOF, query as Record<string, string>), 422, 'validation_error')
    }
  })
})
