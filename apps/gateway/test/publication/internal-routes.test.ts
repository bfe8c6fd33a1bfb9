import type { AttestAnswer } from '@svc/api/attestations'
import type { ErrorBody } from '@svc/api/errors'
import type { CronAttestAnswer } from '@svc/api/internal-attestations'
import { forEachDatabase } from '@svc/devnet/databases'
import { honestly } from '@svc/devnet/faulty-node'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, type TestGateway } from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'
import { attest, statementsOf } from '../evidence/attest.ts'
import { expectAnchors, filledLocker, transactionsOf, useAnchorTestbed } from './anchor-testbed.ts'
import { DOWN } from './node-faults.ts'

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const DAY = 86_400
/** Longer than any retry delay. */
const LATER = 2 * 3600

forEachDatabase('internal operations that publish', (database) => {
  const testbed = useAnchorTestbed()
  const variables = () => ({ DATABASE_URL: database.url, LOG_ANCHOR_SECONDS: '0', PUBLISH: 'statements,payments' })
  const instance = forAllTests(() => testbed.open(variables()))
  /** A gateway whose memos the chain refuses. */
  const wrong = forAllTests(() => testbed.open({ ...variables(), ANCHORS: `memo,memo_program=${TOKEN_PROGRAM}` }))
  const locker = forEachTest(() => filledLocker(instance))

  const post = <Body>(name: string, body: object, of: TestGateway = instance) =>
    of.send<Body>('POST', `/v1/internal/${name}`, body)
  const attested = (choice: object = {}, of = instance) =>
    post<AttestAnswer & ErrorBody>('attest', { receipt_id: locker.receiptId, ...choice }, of)
  const later = (seconds: number) => {
    testbed.clock.advance(seconds)
    return instance.gateway.context.queue.drain()
  }

  it.each([{}, { force: true }])(
    'INT-05 INT-02 attest %j answers 502 while the chain is unavailable, and a repeated call publishes the same statement',
    async (choice) => {
      testbed.node.behave(DOWN)
      for (const _ of ['first', 'second']) {
        const refused = await attested(choice)
        expectRefusal(refused, 502, 'anchor_failed')
        expect(refused.headers.get('retry-after')).toBe('60')
        expect(refused.body.details).toMatchObject({ retryable: true, ambiguous: false })
      }
      testbed.node.behave(honestly)
      const { status, body } = await attested(choice)
      expect([status, body.unchanged, body.push_result.status]).toEqual([200, true, 'pushed'])
      await expectAnchors(instance, testbed.chain, locker, [true])
      expect((await attested({ force: true })).body.unchanged).toBe(false)
    },
  )

  it('INT-05 ANCH-11 a current statement that could not be published is published later without another call', async () => {
    await attested({ push: false })
    testbed.node.behave(DOWN)
    expectRefusal(await attested({ push: true }), 502, 'anchor_failed')
    testbed.node.behave(honestly)
    expect(await transactionsOf(testbed.chain, () => later(LATER))).toBe(1)
    await expectAnchors(instance, testbed.chain, locker, [true])
  })

  it('INT-05 attest answers 200 with the failure when only the admin can fix it', async () => {
    const { status, body } = await attested({}, wrong)
    expect(status).toBe(200)
    expect(body.push_result).toMatchObject({ status: 'failed', error: { retryable: false } })
  })

  it('INT-05 CRON-02 cron-attest answers 502 while the chain is unavailable, and a repeated call publishes its statements', async () => {
    const scheduled = await testbed.open({ ...variables(), CRON_ATTEST_ENABLED: 'true', CRON_ATTEST_PUSH: 'true' })
    await scheduled.gateway.context.queue.drain()
    await post('cron-attest', {}, scheduled)
    await attest(scheduled, locker)
    testbed.clock.advance(DAY)
    testbed.node.behave(DOWN)
    const refused = await post<ErrorBody>('cron-attest', {}, scheduled)
    expectRefusal(refused, 502, 'anchor_failed')
    const run = refused.body.details as unknown as CronAttestAnswer
    expect(run.failed).toBe(run.selected)
    expect(run.results).toContainEqual({ receipt_id: locker.receiptId, status: 'anchor_failed' })
    testbed.node.behave(honestly)
    testbed.clock.advance(60)
    const { status, body } = await post<CronAttestAnswer>('cron-attest', {}, scheduled)
    expect([status, body.pushed, body.failed]).toEqual([200, run.selected, 0])
    expect(await statementsOf(instance, locker)).toHaveLength(2)
    await expectAnchors(instance, testbed.chain, locker, [true, true])
    expect((await post<CronAttestAnswer>('cron-attest', {}, scheduled)).body.selected).toBe(0)
  })

  it('INT-05 cron-attest answers 200 and counts the failure when only the admin can fix it', async () => {
    await attest(instance, locker)
    const cron = { CRON_ATTEST_ENABLED: 'true', CRON_ATTEST_PUSH: 'true', CRON_ATTEST_FILTER: 'all' }
    const scheduled = await testbed.open({ ...variables(), ...cron, ANCHORS: `memo,memo_program=${TOKEN_PROGRAM}` })
    await post('cron-attest', {}, scheduled)
    testbed.clock.advance(DAY)
    const { status, body } = await post<CronAttestAnswer>('cron-attest', {}, scheduled)
    expect([status, body.pushed, body.failed]).toEqual([200, 0, body.selected])
    expect(body.results).toContainEqual({ receipt_id: locker.receiptId, status: 'not_published' })
  })

  it('INT-05 attest-payment answers 200 with the error when only the admin can fix it, and its job ends with that error', async () => {
    const receipt_id = await wrong.receipt(ed25519Identity())
    const { status, body } = await post('attest-payment', { receipt_id }, wrong)
    expect([status, body]).toMatchObject([
      200,
      { recorded: true, publish_error: expect.stringContaining('transaction_refused') },
    ])
    const { queue, database } = wrong.gateway.context
    await database.commit((tx) => queue.enqueue(tx, 'attest-payment', { receipt_id }))
    await queue.drain()
    const error = expect.stringContaining('transaction_refused')
    const dead = { kind: 'attest-payment', payload: { receipt_id }, attempts: 1, error }
    expect(await queue.deadLetters()).toContainEqual(expect.objectContaining(dead))
  })

  it('ANCH-11 ATT-18 the code of a payment is published after any outage of the chain', async () => {
    testbed.node.behave(DOWN)
    const receipt_id = await instance.receipt(ed25519Identity())
    const { queue, database } = instance.gateway.context
    await database.commit((tx) => queue.enqueue(tx, 'attest-payment', { receipt_id }))
    const before = (await queue.deadLetters()).length
    for (let run = 0; run < 12; run++) await later(LATER)
    expect(await queue.deadLetters()).toHaveLength(before)
    testbed.node.behave(honestly)
    await later(LATER)
    const code = database.db.selectFrom('payment_codes').select('slot').where('receipt_id', '=', receipt_id)
    expect((await code.executeTakeFirstOrThrow()).slot).toBeGreaterThan(0)
  })
})
