import type { Stats } from '@svc/api/info'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import type { TestGateway } from '@svc/devnet/services/test-gateway'
import { beforeAll, expect, it } from 'vitest'
import { attest } from '../evidence/attest.ts'
import { filledLocker, push, startAnchorTestbed } from '../publication/anchor-testbed.ts'

const testbed = forAllTests(() => startAnchorTestbed())

forEachDatabase('public statistics', (database) => {
  let instance: TestGateway
  beforeAll(async () => {
    instance = await testbed.open({ DATABASE_URL: database.url, PUBLISH: 'on_request' })
  })
  const stats = async () => (await instance.send<Stats>('GET', '/v1/stats')).body

  it('VER-22 counts lockers and the files of their newest statements, and names the last anchor', async () => {
    expect(await stats()).toMatchObject({ lockers: 0, files_proven: 0, last_anchor: null })
    const locker = await filledLocker(instance)
    await attest(instance, locker)
    await locker.put('b', 'b')
    await attest(instance, locker)
    const other = await filledLocker(instance)
    const { attestation } = await attest(instance, other)
    const { anchor } = await push(instance, other)
    // The gateway counts once a minute at most.
    expect(await stats()).toMatchObject({ lockers: 0 })
    testbed.clock.advance(61)
    expect(await stats()).toMatchObject({ lockers: 2, files_proven: 3, last_anchor: { tx: anchor?.tx } })

    const digest = attestation.envelope!.statement_digest
    const found = await Promise.all(
      [anchor!.tx, digest].map((id) => instance.send<Record<string, unknown>>('GET', `/v1/anchors/${id}`)),
    )
    expect(found[0]!.body).toEqual(found[1]!.body)
    expect(found[0]!.body).toEqual({
      type: 'chain_memo_v2',
      network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
      tx: anchor!.tx,
      slot: anchor!.slot,
      block_time: expect.stringMatching(/Z$/),
      finalized: false,
      statement_digest: digest,
      proof_id: attestation.envelope!.body.proof_id,
      sequence: 1,
      merkle_root: attestation.envelope!.body.merkle_root,
      file_count: 1,
    })
  })

  it('T-61 no public lookup leads from a hash, a digest or a transaction to a receipt or a locker', async () => {
    const instance = await testbed.open({ PUBLISH: 'on_request' })
    const locker = await filledLocker(instance)
    const { attestation } = await attest(instance, locker)
    const unpublished = attestation.envelope!.statement_digest
    const fileHash = attestation.files[0]!.content_hash.replace('sha256:', '')
    const root = attestation.envelope!.body.merkle_root.replace('sha256:', '')
    for (const id of [unpublished, fileHash, root, '0'.repeat(64)]) {
      const { status, body } = await instance.send('GET', `/v1/anchors/${id}`)
      expect([status, body], id).toMatchObject([404, { error: 'statement_not_found' }])
    }
    const { anchor } = await push(instance, locker)
    for (const id of [unpublished, anchor!.tx]) {
      const { status, body } = await instance.send('GET', `/v1/anchors/${id}`)
      expect(status).toBe(200)
      expect(JSON.stringify(body)).not.toMatch(new RegExp(`${locker.receiptId}|${locker.lockerId}`))
    }
    expect((await instance.send('GET', '/v1/anchors/rcpt_1')).status).toBe(422)
  })
})
