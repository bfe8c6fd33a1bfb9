import type { Health } from '@svc/api/info'
import type { CronAttestAnswer } from '@svc/api/internal-attestations'
import type { LockerRecord } from '@svc/api/lockers'
import type { LogAnchors } from '@svc/api/log'
import type { LockerUsage } from '@svc/api/usage'
import { forEachDatabase } from '@svc/devnet/databases'
import { honestly } from '@svc/devnet/faulty-node'
import { ed25519Identity, expectRefusal, type TestGateway } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { testKey } from '@svc/protocol/test/transparency/keys'
import { type LogAnchorPayload, logAnchorPayload } from '@svc/protocol/transparency/anchor'
import { readCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { formatKey } from '@svc/protocol/transparency/note'
import { readPolicy } from '@svc/protocol/transparency/policy'
import { readProof } from '@svc/protocol/transparency/proof'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { anchoredGap, unknownAnchors } from '../../../src/continuity/anchored.ts'
import type { Db } from '../../../src/db/schema.ts'
import { runAttestJob } from '../../../src/evidence/attest-job.ts'
import { newestCheckpoint } from '../../../src/publication/log/store.ts'
import { LOG_ANCHORS } from '../../../src/publication/log-anchors/anchor-log.ts'
import { dueCheckpoint } from '../../../src/publication/log-anchors/due-checkpoint.ts'
import { logStatus } from '../../../src/publication/log-anchors/log-status.ts'
import { watch } from '../../../src/publication/publisher.ts'
import { attestationCounts } from '../../../src/views/attest-health.ts'
import { attest } from '../../evidence/attest.ts'
import { publicationsOf, push, readTransaction, useAnchorTestbed } from '../anchor-testbed.ts'
import { addStatements } from '../log/log-reader.ts'
import { forgetfully } from '../node-faults.ts'

const HOUR = 3600

const testbed = useAnchorTestbed()

const KEYS = { RUN_JOBS: 'false', LOG_KEY: '0b'.repeat(32) }

function logOf(instance: TestGateway) {
  const { context } = instance.gateway
  const { db } = context.database
  return {
    db,
    anchor: ({ gateway }: TestGateway = instance) => watch(gateway.context, LOG_ANCHORS),
    rows: () => db.selectFrom('log_anchors').select(['size', 'state']).orderBy('sent_at').orderBy('tx').execute(),
    /** Publishes a checkpoint with this many more statements, and advances past the interval. */
    async grow(count: number): Promise<string[]> {
      const digests = await addStatements(db, count)
      await context.publishLog()
      testbed.clock.advance(HOUR)
      return digests
    },
  }
}

it('LOG-23 LOG-12 anchors the newest checkpoint once an interval, and only if the log has grown', async () => {
  const instance = await testbed.open(KEYS)
  const { context } = instance.gateway
  const { db, anchor, rows, grow } = logOf(instance)
  const list = async (query = '') => (await instance.send<LogAnchors>('GET', `/v1/log/anchors${query}`)).body
  await anchor()
  const [digest] = await addStatements(db, 3)
  await context.publishLog()
  testbed.clock.advance(HOUR - 1)
  await anchor()
  expect(await rows()).toEqual([])

  testbed.clock.advance(1)
  await anchor()
  await anchor()
  const { anchors } = await list()
  expect(anchors).toMatchObject([{ commitment: 'confirmed', finalized: false, slot: expect.any(Number) }])
  const checkpoint = readCheckpoint((await context.transparencyLog.checkpoint())!)
  if (typeof checkpoint === 'string') throw new Error(checkpoint)
  expect(anchors[0]!.payload).toEqual(logAnchorPayload(checkpoint))
  const { instructions, signers } = readTransaction(testbed.chain, anchors[0]!.tx)
  expect(signers).toEqual([anchors[0]!.signer])
  expect(JSON.parse(instructions.at(-1)!.text)).toEqual(anchors[0]!.payload)

  testbed.clock.advance(2 * HOUR)
  await anchor()
  expect(await list()).toEqual({ anchors: [{ ...anchors[0], commitment: 'finalized', finalized: true }] })

  await grow(2)
  const logged = await context.transparencyLog.proof(digest!)
  expect(logged?.anchor?.tx).toBe(anchors[0]!.tx)
  const proof = readProof(logged!.proof)
  expect(typeof proof === 'string' ? proof : proof.checkpoint.size).toBe(3)
  await anchor()
  expect((await list('?limit=1')).anchors[0]?.payload.n).toBe(5)
  expect(await list('?limit=1')).toMatchObject({ next_cursor: '5' })
  expect((await list('?limit=1&cursor=5')).anchors).toMatchObject([{ payload: { n: 3 } }])
  expectRefusal(await instance.send('GET', '/v1/log/anchors?cursor=x'), 422, 'validation_error')
})

forEachDatabase('anchors of the log', (database) => {
  let instance: TestGateway
  let replica: TestGateway
  let db: Db
  let { anchor, rows, grow } = {} as ReturnType<typeof logOf>
  /** The first run of the watch sends the recorded transaction, and the second finds it. */
  const anchorAgain = async () => {
    await anchor()
    testbed.chain.settle()
    await anchor()
  }
  const variables = () => ({ ...KEYS, DATABASE_URL: database.url })
  /** The settings of a gateway that writes the same log. */
  const shared = () => {
    const { context } = instance.gateway
    return { ...variables(), LOG_STORE: context.config.transparency.folder, LOG_ORIGIN: context.logIdentity.key.name }
  }
  beforeAll(async () => {
    instance = await testbed.open(variables())
    ;({ db, anchor, rows, grow } = logOf(instance))
    replica = await testbed.open({
      ...shared(),
      CHAIN_WAIT_SECONDS: 'anchor=0',
      SPEND_PER_DAY: 'publication=0.00003SOL',
      CRON_ATTEST_ENABLED: 'true',
      CRON_ATTEST_PUSH: 'true',
    })
  })
  beforeEach(async () => {
    await writable(db).deleteFrom('budget_days').execute()
    await writable(db).deleteFrom('spending').execute()
  })

  it('T-19 LOG-24 concurrent replicas publish a single transaction', async () => {
    const before = (await rows()).length
    await grow(1)
    await Promise.all([anchor(), anchor(replica), anchor()])
    expect(await rows()).toHaveLength(before + 1)
    await anchor()
    expect((await rows()).at(-1)?.state).toMatch(/landed|finalized/)
  })

  it('T-19 LOG-24 resolves a lost transaction by its signature before signing another', async () => {
    const before = (await rows()).length
    await grow(1)
    testbed.node.behave(forgetfully)
    await anchor(replica)
    await addStatements(db, 1)
    await instance.gateway.context.publishLog()
    await anchor(replica)
    expect((await rows()).slice(before).map(({ state }) => state)).toEqual(['sent'])

    testbed.chain.expireBlockhashes()
    testbed.clock.advance(2)
    await anchor(replica)
    expect((await rows()).slice(before).map(({ state }) => state)).toEqual(['expired'])
    expect(await db.selectFrom('spending').selectAll().execute()).toEqual([])
    testbed.node.behave(honestly)
    await anchor()
    expect((await rows()).slice(before)).toMatchObject([{ state: 'expired' }, { state: 'landed' }])
  })

  it('T-19 LOG-24 sends the transaction recorded before a crash, and signs no other', async () => {
    const before = (await rows()).length
    await grow(1)
    testbed.node.behave(forgetfully)
    await anchor(replica)
    testbed.node.behave(honestly)
    await anchorAgain()
    expect((await rows()).slice(before)).toMatchObject([{ state: 'finalized' }])
  })

  it.each(['before', 'after'] as const)(
    'T-19 LOG-24 after a gateway is killed %s the chain accepts its transaction, another one finishes the anchor once',
    { tags: ['nightly'] },
    async (when) => {
      const before = (await rows()).length
      const sent = testbed.chain.transactions().length
      await grow(1)
      const held = testbed.hold('sendTransaction', { when })
      const { kill } = await testbed.openProcess(shared(), 'anchor-log')
      await held.reached
      await kill()
      testbed.node.behave(honestly)
      expect((await rows()).slice(before)).toMatchObject([{ state: 'sent' }])
      await anchorAgain()
      expect((await rows()).slice(before)).toMatchObject([{ state: expect.stringMatching(/landed|finalized/) }])
      expect(testbed.chain.transactions().length - sent).toBe(1)
    },
  )

  it('LOG-24 waits while the daily budget is used up', async () => {
    const before = (await rows()).length
    await grow(1)
    await writable(db)
      .insertInto('budget_days')
      .values({
        budget: 'publication',
        day: Math.floor(testbed.clock.now() / 86_400_000),
        amount: 30_000,
        transactions: 1,
        exhausted_limit: 30_000,
      })
      .execute()
    await anchor(replica)
    expect(await rows()).toHaveLength(before)
    await anchor()
    expect(await rows()).toHaveLength(before + 1)
  })

  it('LOG-23 waits a second interval for a checkpoint with a quorum when a policy is set', async () => {
    const policy = readPolicy(`witness one ${formatKey(testKey('one.example', 'cosigner').key)}\nquorum one\n`)
    if (typeof policy === 'string') throw new Error(policy)
    const { context } = instance.gateway
    const config = { ...context.config, transparency: { ...context.config.transparency, policy } }
    await grow(1)
    const { size: cosigned } = (await newestCheckpoint(db))!
    await addStatements(db, 1)
    await instance.gateway.context.publishLog()
    const due = async () => (await dueCheckpoint({ ...context, config }, cosigned + 1))?.size ?? null
    expect(await due()).toBeNull()
    await writable(db).insertInto('log_cosignatures').values({ size: cosigned, lines: '', is_quorum: 1 }).execute()
    expect(await due()).toBe(cosigned)
    await writable(db).deleteFrom('log_cosignatures').execute()
    testbed.clock.advance(HOUR)
    expect(await due()).toBe(cosigned + 1)
  })

  it('LOG-26 the chain reveals a checkpoint that is missing from the database', async () => {
    for (const count of [1, 2]) {
      await grow(count)
      await anchor()
    }
    const { nodes, signer } = instance.gateway.context.primaryChain!
    expect(await unknownAnchors(db, nodes, signer)).toEqual({ statements: [], checkpoints: [] })
    const kept = await db.selectFrom('log_anchors').selectAll().orderBy('size', 'desc').limit(1).execute()
    await writable(db).deleteFrom('log_anchors').where('tx', '=', kept[0]!.tx).execute()
    const { checkpoints } = await unknownAnchors(db, nodes, signer)
    expect(checkpoints).toEqual([JSON.parse(kept[0]!.payload)])
    expect(await anchoredGap(db, checkpoints)).toBeNull()
    const [{ n, root, ...rest }] = checkpoints as [LogAnchorPayload]
    const { size } = (await newestCheckpoint(db))!
    expect(await anchoredGap(db, [{ ...rest, n: size + 3, root }])).toEqual({ kind: 'behind', missing: 3 })
    const other = root.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))
    expect(await anchoredGap(db, [{ ...rest, n, root: other }])).toMatchObject({ kind: 'forked' })
    expect(await anchoredGap(db, [{ ...rest, o: 'other.example/log', n: size + 3, root }])).toBeNull()
    await writable(db).insertInto('log_anchors').values(kept).execute()
  })

  it('LOG-28 LOG-27 a locker that leaves publishing to the log is published only on request', async () => {
    const { context } = instance.gateway
    await grow(1)
    await anchor()
    const operator = ed25519Identity()
    const locker = await instance.locker(ed25519Identity(), { operators: [operator] })
    const change = (anchoring: string, who = locker.owner) =>
      locker.call<{ anchoring: string; error: string }>(['locker:admin'], 'POST', '/anchoring', { anchoring }, who)
    const record = () => locker.call<LockerRecord>(['locker:read'], 'GET', '/record')
    const usage = async () => (await locker.call<LockerUsage>(['locker:read'], 'GET', '/usage')).body
    expect((await record()).body.anchoring).toBe('each')
    expectRefusal(await change('log', operator), 403, 'OWNER_REQUIRED')
    expectRefusal(await change('never'), 422, 'validation_error')
    expect(await change('log')).toMatchObject({ status: 200, body: { anchoring: 'log' } })
    expect((await record()).body.anchoring).toBe('log')

    await locker.put('a', 'a')
    const attested = await attest(instance, locker)
    expect(attested.push_result).toMatchObject({ status: 'skipped', reason: 'push_disabled' })
    await locker.put('b', 'b')
    await runAttestJob(context, locker.receiptId, 1)
    await locker.put('a', 'changed')
    const { body: run } = await replica.send<CronAttestAnswer>('POST', '/v1/internal/cron-attest', {})
    expect(run.results).toContainEqual({ receipt_id: locker.receiptId, status: 'attested' })
    expect(await publicationsOf(instance, locker)).toEqual([])
    expect(await context.queue.counts()).not.toContainEqual(expect.objectContaining({ kind: 'push' }))
    const waiting = async () => (await attestationCounts(context)).oldest_nonfinal_age_sec
    expect(await waiting()).toBeNull()
    expect((await usage()).next_anchor).toMatchObject({ reason: 'log', at: expect.any(String) })

    const { size, waiting: unpublished } = await logStatus(context)
    expect(unpublished).toBeGreaterThan(0)
    await context.publishLog()
    testbed.clock.advance(4 * HOUR)
    expect(await logStatus(context)).toEqual({
      size: size + unpublished,
      waiting: 0,
      witnesses: [],
      overdueSeconds: 3 * HOUR,
    })
    const health = await instance.send<Health>('GET', '/health')
    expect(health.body.warnings).toContain('the newest checkpoint of the log is not anchored in time')
    await anchor()
    expect(await logStatus(context)).toMatchObject({ overdueSeconds: 0 })
    expect((await usage()).next_anchor).toBeNull()

    expect(await push(instance, locker)).toMatchObject({ status: 'pushed' })
    expect(await change('each')).toMatchObject({ status: 200 })
    await locker.put('c', 'c')
    expect((await attest(instance, locker)).push_result.status).toBe('pushed')
  })
})
