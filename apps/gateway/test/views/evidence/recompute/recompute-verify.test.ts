import { hash } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import type { RecomputeVerify } from '@svc/api/proofs'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import type { TestLocker } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { leafHash, merkleRoot } from '@svc/protocol/merkle'
import { expect, it } from 'vitest'
import type { Locker } from '../../../../src/db/schema.ts'
import { objectPath } from '../../../evidence/attest.ts'
import { chainOfThree, memoAnchor, openEvidenceGateway } from '../evidence-gateway.ts'

const RECOMPUTE = '/v1/storage/recompute-verify'
const sha256 = (text: string) => `sha256:${hash('sha256', text)}`

forEachDatabase('recompute-verify', (database) => {
  const instance = forAllTests(() => openEvidenceGateway({ DATABASE_URL: database.url }))
  const recompute = (receipt_id: string) => instance.get<RecomputeVerify>(RECOMPUTE, { receipt_id })
  const pathOf = ({ locker_id }: Locker, filename: string) =>
    objectPath(instance, { lockerId: locker_id } as TestLocker, filename)

  it('VER-18 ANCH-05 reads every file again and finds that all match the statement', async () => {
    const locker = await chainOfThree(instance)
    const { record, anchor } = await instance.state(locker, { anchor: (envelope) => memoAnchor(envelope) })
    const { merkle_root } = record
    const { files, verification, checked_at, ...answer } = await recompute(locker.receipt_id)
    expect(answer).toEqual({
      receipt_id: locker.receipt_id,
      locker_id: locker.locker_id,
      match: true,
      stored: { merkle_root, file_count: 3 },
      recomputed: { merkle_root, file_count: 3, total_bytes: '11' },
      missing: [],
      mismatched: [],
      cached: false,
      anchor,
    })
    const same = (filename: string, text: string) => {
      return { filename, status: 'match', recorded_hash: sha256(text), actual_hash: sha256(text) }
    }
    expect(files).toEqual([same('a.txt', 'one'), same('b.txt', 'two'), same('c.txt', 'three')])
    expect(verification.anchor_confirmed).toBe('passed')
    expect(Date.parse(checked_at)).toBe(instance.clock.now())
  })

  it('VER-18 reports bytes that the provider has changed or lost', async () => {
    const locker = await instance.filled({ 'a.txt': 'one', 'b.txt': 'two', 'c.txt': 'three' })
    await instance.state(locker)
    expect((await recompute(locker.receipt_id)).match).toBe(true)
    instance.clock.advance(61)
    await writeFile(await pathOf(locker, 'a.txt'), 'ONE')
    await rm(await pathOf(locker, 'c.txt'))
    const { match, recomputed, files, missing, mismatched } = await recompute(locker.receipt_id)
    expect({ match, missing, mismatched }).toEqual({ match: false, missing: ['c.txt'], mismatched: ['a.txt'] })
    expect(files.map(({ status, actual_hash }) => [status, actual_hash])).toEqual([
      ['mismatch', sha256('ONE')],
      ['match', sha256('two')],
      ['missing', null],
    ])
    const left = [
      { filename: 'a.txt', size_bytes: 3, content_hash: sha256('ONE') },
      { filename: 'b.txt', size_bytes: 3, content_hash: sha256('two') },
    ]
    expect(recomputed).toEqual({
      merkle_root: `sha256:${merkleRoot(left.map(leafHash))}`,
      file_count: 2,
      total_bytes: '6',
    })
  })

  it('VER-18 ERR-17 compares replaced, deleted and unconfirmed files with the statement', async () => {
    const locker = await instance.filled({ 'a.txt': 'one', 'b.txt': 'two', 'c.txt': 'three', 'd.txt': 'four' })
    await instance.state(locker)
    await locker.put('a.txt', 'another')
    await locker.removeFile('b.txt')
    const { db } = instance.gateway.context.database
    const awaiting = { content_hash: null, size_bytes: null, hash_recorded_at: null }
    const files = writable(db).updateTable('files').where('locker_id', '=', locker.locker_id)
    await files.where('filename', '=', 'c.txt').set(awaiting).execute()
    await files
      .where('filename', '=', 'd.txt')
      .set({ ...awaiting, object_id: null })
      .execute()
    await locker.put('new.txt', 'an unattested file')
    const answer = await recompute(locker.receipt_id)
    expect(answer.files.map(({ filename, status }) => [filename, status])).toEqual([
      ['a.txt', 'mismatch'],
      ['b.txt', 'missing'],
      ['c.txt', 'match'],
      ['d.txt', 'missing'],
    ])
    expect(answer).toMatchObject({ match: false, missing: ['b.txt', 'd.txt'], mismatched: ['a.txt'] })
  })

  it('VER-18 MERK-08 answers a null Merkle root when all files are gone', async () => {
    const locker = await instance.listed(3)
    await instance.state(locker)
    const { match, recomputed, missing } = await recompute(locker.receipt_id)
    expect({ match, recomputed }).toEqual({
      match: false,
      recomputed: { merkle_root: null, file_count: 0, total_bytes: '0' },
    })
    expect(missing).toHaveLength(3)
  })

  it('VER-18 T-10 reads the files once a minute, and again for a new statement', async () => {
    const locker = await instance.filled({ 'a.txt': 'one' })
    await instance.state(locker)
    const first = await recompute(locker.receipt_id)
    await writeFile(await pathOf(locker, 'a.txt'), 'ONE')
    instance.clock.advance(59)
    expect(await recompute(locker.receipt_id)).toEqual({ ...first, cached: true })
    instance.clock.advance(2)
    expect(await recompute(locker.receipt_id)).toMatchObject({ match: false, cached: false })
    await locker.put('b.txt', 'two')
    await instance.state(locker)
    expect(await recompute(locker.receipt_id)).toMatchObject({ cached: false, stored: { file_count: 2 } })
  })
})
