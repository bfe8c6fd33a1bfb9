import type { VerifyAnswer } from '@svc/api/evidence'
import type { InclusionProof } from '@svc/api/proofs'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { expectRefusal } from '@svc/devnet/services/test-gateway'
import { bare, withPrefix } from '@svc/protocol/bytes'
import { foldProof, leafHash, treeDepth } from '@svc/protocol/merkle'
import { expect, it } from 'vitest'
import { chainOfThree, memoAnchor, openEvidenceGateway } from './evidence-gateway.ts'

const PROOF = '/v1/storage/merkle-proof'

function expectProof(proof: InclusionProof): void {
  expect(proof.leaf_hash).toBe(leafHash(proof.file_entry))
  expect(withPrefix(foldProof(proof.leaf_hash, proof.proof))).toBe(proof.merkle_root)
  expect(proof.proof).toHaveLength(proof.tree_depth)
  expect(proof.tree_depth).toBe(treeDepth(proof.file_count))
  expect(proof.schema_version).toBe('1.0')
}

forEachDatabase('inclusion proofs', (database) => {
  const instance = forAllTests(() => openEvidenceGateway({ DATABASE_URL: database.url }))
  const prove = (receipt_id: string, filename: string, query = {}) =>
    instance.get<InclusionProof>(PROOF, { receipt_id, filename, ...query })

  it('MERK-18 ANCH-05 answers an inclusion proof with all fields', async () => {
    const locker = await instance.listed(5)
    const { record, anchor } = await instance.state(locker, { anchor: (envelope) => memoAnchor(envelope) })
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

  it('MERK-18 proves a file of an earlier statement', async () => {
    const locker = await chainOfThree(instance)
    const { receipt_id } = locker
    await locker.put('a.txt', 'something else')
    await instance.state(locker)
    const [earlier, now] = [await prove(receipt_id, 'a.txt', { sequence: 1 }), await prove(receipt_id, 'a.txt')]
    expect([earlier.file_entry.size_bytes, now.file_entry.size_bytes]).toEqual([3, 14])
    for (const proof of [earlier, now]) expectProof(proof)
    const { attestation } = await instance.get<VerifyAnswer>('/v1/storage/verify', { receipt_id, sequence: 1 })
    expect(bare(earlier.merkle_root)).toBe(bare(attestation?.merkle_root as string))
    expectRefusal(await instance.read(PROOF, { receipt_id, filename: 'b.txt', sequence: 1 }), 404, 'FILE_NOT_ATTESTED')
    expectRefusal(await instance.read(PROOF, { receipt_id, filename: '' }), 422, 'validation_error')
  })
})
