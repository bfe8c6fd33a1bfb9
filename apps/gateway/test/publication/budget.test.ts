import type { VerifyAnswer } from '@svc/api/evidence'
import type { Health } from '@svc/api/info'
import type { LockerUsage } from '@svc/api/usage'
import { forEachDatabase } from '@svc/devnet/databases'
import { honestly } from '@svc/devnet/faulty-node'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { createLog } from '@svc/service/program/log'
import { describe, expect, it } from 'vitest'
import { forgetSpending } from '../../src/budgets/budgets.ts'
import { watch } from '../../src/publication/publisher.ts'
import { STATEMENTS } from '../../src/publication/statements.ts'
import { attest } from '../evidence/attest.ts'
import {
  expectAnchors,
  filledLocker,
  publicationsOf,
  push,
  transactionsOf,
  useAnchorTestbed,
} from './anchor-testbed.ts'
import { forgetfully } from './node-faults.ts'

forEachDatabase('the budget of a receipt', (database) => {
  const testbed = useAnchorTestbed()
  /** Three anchors an hour, five a day. */
  const limited = forAllTests(() =>
    testbed.open({ DATABASE_URL: database.url, RATE_LIMITS: 'anchors=3/hour,anchors=5/day' }),
  )
  const locker = forEachTest(() => filledLocker(limited))

  /** Changes the locker and attests, `times` times. */
  async function attestChanges(times: number, instance = limited) {
    const answers = []
    for (let i = 0; i < times; i++) {
      await locker.put('a', crypto.randomUUID())
      answers.push(await attest(instance, locker))
    }
    return answers
  }
  const drain = () => limited.gateway.context.queue.drain()
  const verify = async (sequence?: number) => {
    const query = `receipt_id=${locker.receiptId}${sequence === undefined ? '' : `&sequence=${sequence}`}`
    return (await limited.send<VerifyAnswer>('GET', `/v1/storage/verify?${query}`)).body
  }

  it('T-34 ADD-14 statements over the budget are signed, and the newest is published when the budget allows', async () => {
    const sent = await transactionsOf(testbed.chain, async () => {
      const answers = await attestChanges(6)
      const statuses = answers.map(({ push_result }) => push_result.status)
      expect(statuses).toEqual([...Array(3).fill('pushed'), ...Array(3).fill('deferred')])
      expect(answers.at(-1)).toMatchObject({
        attestation_status: 'computed',
        push_result: { reason: 'limit_reached', anchor: null, error: null, publish_after: expect.any(String) },
        attestation: { evidence_seq: 6, anchor_absence: { reason: 'limit_reached' } },
      })
      expect(await push(limited, locker)).toMatchObject({
        ok: true,
        status: 'deferred',
        attestation_status: 'computed',
      })
      await drain()
    })
    expect(sent).toBe(3)
    testbed.clock.advance(3600)
    expect(await transactionsOf(testbed.chain, drain)).toBe(1)
    await expectAnchors(limited, testbed.chain, locker, [true, true, true, false, false, true])
  })

  it('ADD-14 evidence states why a statement has no anchor, until it has one', async () => {
    await attestChanges(5)
    const { attestation, anchor } = await verify()
    expect(anchor).toBeNull()
    expect(attestation?.anchor_absence).toMatchObject({ reason: 'limit_reached', publish_after: expect.any(String) })
    expect((await verify(4)).attestation?.anchor_absence).toEqual({ reason: 'superseded', superseded_by: 5 })
    expect((await verify(3)).attestation).not.toHaveProperty('anchor_absence')
    const path = `/v1/storage/evidence-bundle?receipt_id=${locker.receiptId}&sequence=4`
    expect((await limited.send('GET', path)).body).toMatchObject({ anchor: null, anchor_absence: { superseded_by: 5 } })
    const all = `/v1/storage/statements?receipt_id=${locker.receiptId}`
    const { statements } = (await limited.send<{ statements: object[] }>('GET', all)).body
    expect(statements.map((of) => 'anchor_absence' in of)).toEqual([false, false, false, true, true])
    testbed.clock.advance(3600)
    await drain()
    const later = await verify()
    expect(later.anchor).not.toBeNull()
    expect(later.attestation).not.toHaveProperty('anchor_absence')
  })

  it('ADD-14 T-56 the usage of a locker states when a waiting anchor is published', async () => {
    const next = async () => {
      const { body } = await locker.call<LockerUsage>(['locker:read'], 'GET', '/usage')
      return { next: body.next_anchor, isChanged: body.has_unattested_changes }
    }
    await attestChanges(3)
    expect(await next()).toEqual({ next: null, isChanged: false })
    const [{ push_result }] = (await attestChanges(1)) as [Awaited<ReturnType<typeof attest>>]
    const waits = { reason: 'limit_reached', at: push_result.publish_after }
    expect(await next()).toEqual({ next: waits, isChanged: false })
    await locker.put('a', 'changed once more')
    expect(await next()).toEqual({ next: waits, isChanged: true })
    testbed.clock.advance(3600)
    await drain()
    expect(await next()).toEqual({ next: null, isChanged: true })
  })

  it('T-34 a daily limit applies besides the hourly one', async () => {
    await attestChanges(3)
    testbed.clock.advance(3601)
    const statuses = (await attestChanges(3)).map(({ push_result }) => push_result.status)
    expect(statuses).toEqual(['pushed', 'pushed', 'deferred'])
    testbed.clock.advance(3601)
    expect((await push(limited, locker)).status).toBe('deferred')
    testbed.clock.advance(86_400 - 2 * 3601)
    expect((await push(limited, locker)).status).toBe('pushed')
  })

  it('T-34 an expired transaction does not count, because it was never paid', async () => {
    const hourlyLimit = { DATABASE_URL: database.url, RATE_LIMITS: 'anchors=1/hour' }
    const impatient = await testbed.open({ ...hourlyLimit, CHAIN_WAIT_SECONDS: 'anchor=0' })
    testbed.node.behave(forgetfully)
    await attestChanges(1, impatient)
    testbed.chain.expireBlockhashes()
    testbed.node.behave(honestly)
    testbed.clock.advance(60)
    await watch(impatient.gateway.context, STATEMENTS)
    expect((await publicationsOf(limited, locker)).map(({ state }) => state)).toEqual(['expired'])
    expect((await push(await testbed.open(hourlyLimit), locker)).status).toBe('pushed')
  })

  it('T-34 spending records are deleted once no limit needs them', async () => {
    const { db } = limited.gateway.context.database
    const rows = () => db.selectFrom('spending').selectAll().execute()
    await attestChanges(1)
    await forgetSpending(limited.gateway.context)
    expect(await rows()).not.toEqual([])
    testbed.clock.advance(2 * 86_400 + 1)
    await forgetSpending(limited.gateway.context)
    expect(await rows()).toEqual([])
  })
})

describe('the daily budget', () => {
  const testbed = useAnchorTestbed()

  it('T-34 ADD-14 publishing pauses at the daily ceiling, logs that once, and resumes the next day', async () => {
    const errors: string[] = []
    const write = (line: string) => void errors.push(line)
    const log = createLog('error', { write, writeSoon: write, flush: () => {} })
    const instance = await testbed.open(
      { SPEND_PER_DAY: 'publication=0.000012SOL', PUBLISH: 'statements,payments' },
      { log },
    )
    const lockers = [await filledLocker(instance), await filledLocker(instance), await filledLocker(instance)]
    const payment = () => instance.send('POST', '/v1/internal/attest-payment', { receipt_id: lockers[0]!.receiptId })
    const sent = await transactionsOf(testbed.chain, async () => {
      const statuses = []
      for (const locker of lockers) statuses.push((await attest(instance, locker)).push_result)
      expect(statuses.map(({ status, reason }) => reason ?? status)).toEqual(['pushed', 'pushed', 'daily_budget_used'])
      expect(statuses[2]?.publish_after).toBe('2026-09-02T00:00:00Z')
      expect(await push(instance, lockers[2]!)).toMatchObject({ status: 'deferred' })
      expect(await payment()).toMatchObject({
        status: 200,
        body: { recorded: true, publish_after: expect.any(String) },
      })
    })
    expect(sent).toBe(2)
    expect(errors).toEqual([expect.stringContaining('the daily budget is used up')])
    const health = await instance.send<Health>('GET', '/health')
    expect(health).toMatchObject({ status: 200, body: { status: 'ok', budgets: { publication: 'used_up' } } })
    expect(health.body.warnings).toEqual([expect.stringContaining('2026-09-02T00:00:00Z')])
    const metrics = await (await fetch(`${instance.gateway.url}/metrics`)).text()
    for (const line of [
      'svc_budget_per_day{budget="publication",unit="lamports"} 12000',
      'svc_budget_used{budget="publication",unit="lamports"} 10000',
      'svc_budget_transactions{budget="publication",unit="lamports"} 2',
      'svc_budget_exhausted{budget="publication",unit="lamports"} 1',
      'svc_deferred_publications{kind="anchor"} 1',
    ]) {
      expect(metrics).toContain(`\n${line}\n`)
    }

    testbed.clock.advance(13 * 3600)
    expect(await transactionsOf(testbed.chain, () => instance.gateway.context.queue.drain())).toBe(2)
    await expectAnchors(instance, testbed.chain, lockers[2]!, [true])
    expect((await payment()).body).not.toHaveProperty('publish_after')
    expect((await instance.send<Health>('GET', '/health')).body.budgets).toMatchObject({ publication: 'ok' })
  })
})
