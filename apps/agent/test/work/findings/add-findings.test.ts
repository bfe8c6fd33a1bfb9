import { FINDING_KINDS } from '@svc/api/agent/delegations'
import type { Tasks } from '@svc/api/agent/tasks'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { startTestAgent } from '@svc/devnet/services/agent'
import { writable } from '@svc/devnet/writable'
import { toHex } from '@svc/protocol/bytes'
import { isFindingChain, isFindingSignedBy } from '@svc/protocol/finding'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { expect, it } from 'vitest'
import { addFindings, type NewFinding } from '../../../src/work/findings/add-findings.ts'
import { findingsAfter } from '../../../src/work/findings/store.ts'
import { insertTestDelegation } from '../../delegation-rows.ts'

forEachDatabase('the log of a delegation', (database) => {
  const agent = forAllTests(() => startTestAgent({ DATABASE_URL: database.url }))

  const newDelegation = (tasks: Tasks) =>
    insertTestDelegation(agent.context.database.db, { tasks: JSON.stringify(tasks) })

  const add = (id: string, ...news: NewFinding[]) =>
    writable(agent.context.database.db)
      .transaction()
      .execute((tx) => addFindings(agent.context, tx, id, news))

  const logOf = (id: string, after = 0, limit = 1000) => findingsAfter(agent.context.database.db, id, after, limit)

  const rowOf = (id: string) =>
    agent.context.database.db
      .selectFrom('delegations')
      .select(['finding_count', 'alert_count', 'last_digest'])
      .where('delegation_id', '=', id)
      .executeTakeFirstOrThrow()

  it('AGENT-04 is a single chain when several writers append concurrently', async () => {
    const id = await newDelegation({})
    const appends = Array.from({ length: 20 }, (_, i): NewFinding[] => [
      { kind: 'file_new', detail: { filename: `${i} a` } },
      { kind: 'bytes_missing', detail: { filename: `${i} b` } },
    ])
    await Promise.all(appends.map((news) => add(id, ...news)))
    const log = await logOf(id)
    expect(log.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1))
    expect(isFindingChain(log)).toBe(true)
    const key = ed25519PublicKeyFromHex(toHex(agent.context.signer.publicKey))!
    expect(log.every((finding) => isFindingSignedBy(key, finding))).toBe(true)
    expect(await rowOf(id)).toMatchObject({ finding_count: 40, alert_count: 20, last_digest: log.at(-1)?.digest })
    expect(await logOf(id, 38)).toEqual(log.slice(38))
    expect(await logOf(id, 5, 3)).toEqual(log.slice(5, 8))
  })

  it('AGENT-04 marks the kinds that harm the owner as alerts', async () => {
    const id = await newDelegation({})
    await add(id, ...FINDING_KINDS.map((kind) => ({ kind, detail: {} })))
    const alerts = (await logOf(id)).filter(({ severity }) => severity === 'alert').map(({ kind }) => kind)
    expect(alerts).toEqual(FINDING_KINDS.slice(FINDING_KINDS.indexOf('bytes_differ')))
  })

  it('AGENT-04 is reported by webhook, completely or alerts only, after its commit', async () => {
    const { queue, database } = agent.context
    const waiting = async () => (await queue.counts()).tell?.waiting ?? 0
    const before = await waiting()
    const news: NewFinding[] = [
      { kind: 'file_new', detail: {} },
      { kind: 'mirror_failed', detail: {} },
    ]
    const all = await newDelegation({ tell: { url: 'https://hooks.example/all' } })
    const alerts = await newDelegation({ tell: { url: 'https://hooks.example/alerts', only_alerts: true } })
    for (const id of [all, alerts]) await add(id, ...news)
    await add(alerts, { kind: 'file_gone', detail: {} })
    expect((await waiting()) - before).toBe(3)
    const undone = writable(database.db)
      .transaction()
      .execute(async (tx) => {
        await addFindings(agent.context, tx, all, news)
        throw new Error('after all')
      })
    await expect(undone).rejects.toThrow('after all')
    expect([(await waiting()) - before, (await rowOf(all)).finding_count]).toEqual([3, 2])
    const deliveries = await database.db.selectFrom('deliveries').select(['url', 'sequence']).execute()
    expect(deliveries.map(({ url, sequence }) => `${sequence} ${url}`).toSorted()).toEqual([
      '1 https://hooks.example/all',
      '2 https://hooks.example/alerts',
      '2 https://hooks.example/all',
    ])
  })
})
