import type { AttestAnswer } from '@svc/api/attestations'
import type { AttestHealth } from '@svc/api/internal-attestations'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { paymentAttCode } from '@svc/protocol/ids'
import { expect, it } from 'vitest'
import { attest, expectChain, queueToAttest } from './attest.ts'

const UNKNOWN = `rcpt_${'0'.repeat(32)}`

forEachDatabase('the internal operations of attestations', (database) => {
  const instance = forAllTests(() => openTestGateway({ DATABASE_URL: database.url }))
  const locker = forEachTest(() => instance.locker(ed25519Identity()))
  const post = <Body>(name: string, body: unknown) => instance.send<Body>('POST', `/v1/internal/${name}`, body)

  it('INT-01 INT-02 attest works as for the owner, and makes a new statement every time with force', async () => {
    await locker.put('a', 'a')
    const { receiptId: receipt_id } = locker
    const first = await post<AttestAnswer>('attest', { receipt_id, push: true })
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(first.body).toMatchObject({ unchanged: false, attestation: { evidence_seq: 1 } })
    expect(await attest(instance, locker)).toEqual({ ...first.body, unchanged: true })
    expect((await post<AttestAnswer>('attest', { receipt_id, force: false })).body.unchanged).toBe(true)
    const forced = await post<AttestAnswer>('attest', { receipt_id, force: true })
    expect(forced.body).toMatchObject({ unchanged: false, attestation: { evidence_seq: 2 } })
    expect(forced.body.attestation.snapshot_id).toBe(first.body.attestation.snapshot_id)
    expect(await expectChain(instance, locker)).toHaveLength(2)
  })

  it('INT-05 answer 4xx to requests that can never succeed, so that queues drop them', async () => {
    const { receiptId: receipt_id } = locker
    expectRefusal(await post('attest', { receipt_id }), 409, 'EMPTY_FILE_LIST')
    expectRefusal(await post('attest', { receipt_id: UNKNOWN }), 404, 'receipt_not_found')
    const bare = await instance.receipt(locker.owner)
    expectRefusal(await post('attest', { receipt_id: bare }), 404, 'locker_not_found')
    for (const body of [{}, { receipt_id: 7 }, { receipt_id, force: 'yes' }, [], 'x'])
      expectRefusal(await post('attest', body), 422, 'validation_error')
    expectRefusal(await post('attest-payment', { receipt_id: UNKNOWN }), 404, 'receipt_not_found')
    expectRefusal(await post('attest-payment', {}), 422, 'validation_error')
    expectRefusal(await post('bridge-retry', { limit: 0 }), 422, 'validation_error')
    expectRefusal(await post('cron-attest', { dry_run: 'perhaps' }), 422, 'validation_error')
  })

  it('INT-02 ATT-18 attest-payment records the code of a payment once, and bridge-retry has nothing to retry', async () => {
    const { receiptId: receipt_id } = locker
    const { body } = await instance.send<Parameters<typeof paymentAttCode>[0]>('GET', `/v1/receipts/${receipt_id}`)
    const expected = { ok: true, receipt_id, att_code: paymentAttCode(body), recorded: true }
    for (const _ of ['once', 'twice']) expect((await post('attest-payment', { receipt_id })).body).toEqual(expected)
    const codes = await instance.gateway.context.database.db
      .selectFrom('payment_codes')
      .selectAll()
      .where('receipt_id', '=', receipt_id)
      .execute()
    const recorded_at = Math.floor(instance.clock.now() / 1000)
    const unpublished = { tx: null, raw: null, last_valid_height: null, slot: null }
    expect(codes).toEqual([{ receipt_id, att_code: expected.att_code, recorded_at, ...unpublished }])
    expect((await post('bridge-retry', {})).body).toEqual({ ok: true, attempted: 0, succeeded: 0, failed: 0 })
  })

  it('INT-07 STATE-14 attest-health counts attestations by status and reports the age of the oldest that is not final', async () => {
    const { db } = instance.gateway.context.database
    await writable(db).deleteFrom('attestations').execute()
    const health = async () => (await instance.send<AttestHealth>('GET', '/v1/internal/attest-health')).body
    const counts = { pending: 0, computed: 0, pushing: 0, complete: 0 }
    const time = () => new Date(instance.clock.now()).toISOString().replace('.000Z', 'Z')
    expect(await health()).toEqual({ counts, oldest_nonfinal_age_sec: null, nonfinal_unknown_age: 0, time: time() })

    await locker.put('a', 'a')
    await queueToAttest(instance, locker)
    instance.clock.advance(42)
    expect(await health()).toMatchObject({ counts: { ...counts, pending: 1 }, oldest_nonfinal_age_sec: 42 })
    await instance.gateway.context.queue.drain()
    instance.clock.advance(8)
    expect(await health()).toMatchObject({ counts: { ...counts, computed: 1 }, oldest_nonfinal_age_sec: 8 })

    const now = Math.floor(instance.clock.now() / 1000)
    const rows = [
      { receipt_id: 'complete', status: 'complete', status_since: now - 1000 },
      { receipt_id: 'pushing', status: 'pushing', status_since: now - 100 },
      { receipt_id: 'unknown', status: 'computed', status_since: null },
      // A record of the oracle era has no status and counts as complete.
      { receipt_id: 'old', status: null, status_since: null, sequence: 0 },
    ] as const
    await writable(db)
      .insertInto('attestations')
      .values(rows.map((row) => ({ locker_id: 'locker_0', ...row })))
      .execute()
    expect(await health()).toEqual({
      counts: { pending: 0, computed: 2, pushing: 1, complete: 2 },
      oldest_nonfinal_age_sec: 100,
      nonfinal_unknown_age: 1,
      time: time(),
    })
    await writable(db).deleteFrom('attestations').execute()
  })
})
