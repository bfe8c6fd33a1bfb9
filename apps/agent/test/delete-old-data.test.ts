import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { startTestAgent } from '@svc/devnet/services/agent'
import { writable } from '@svc/devnet/writable'
import { beforeEach, expect, it } from 'vitest'
import type { DelegationRow } from '../src/db/schema.ts'
import { findDelegation } from '../src/delegations/store.ts'
import { deleteOldData } from '../src/delete-old-data.ts'
import { insertPayRequest, insertPurchase } from '../src/subscriptions/store.ts'
import { addFindings } from '../src/work/findings/add-findings.ts'
import { findingsAfter } from '../src/work/findings/store.ts'
import { findMirrors, putMirror } from '../src/work/tasks/mirror-store.ts'
import { findSeenFiles, findStatement, putSeenFiles, putStatement } from '../src/work/tasks/watch-store.ts'
import { insertTestDelegation } from './delegation-rows.ts'

const DAY = 86_400
const START = 1_800_000_000

forEachDatabase('the deletion of old data', (database) => {
  let now = START
  const agent = forAllTests(() =>
    startTestAgent({ DATABASE_URL: database.url, LATE_CONFIRM_HOURS: '48' }, { now: () => now * 1000 }),
  )
  beforeEach(async () => {
    now = START
    for (const table of ['receipts', 'pay_requests'] as const) await writable(db()).deleteFrom(table).execute()
  })

  const db = () => agent.context.database.db
  const deleteAfter = (seconds: number) => {
    now = START + seconds
    return deleteOldData(agent.context, new AbortController().signal)
  }

  const newDelegation = (changes: Partial<DelegationRow> = {}) => {
    const tasks = JSON.stringify({ tell: { url: 'https://hooks.example/' } })
    return insertTestDelegation(db(), { tasks, created_at: START, registered_at: START, ...changes })
  }

  const findPayRequests = () => db().selectFrom('pay_requests').selectAll().orderBy('pay_req_id').execute()

  async function see(delegation_id: string): Promise<void> {
    const file = { sha256: '', size_bytes: 1, run_id: 'run', read_at: null, trouble: null }
    await putSeenFiles(writable(db()), [{ ...file, delegation_id, filename: 'seen' }])
    await putStatement(writable(db()), { delegation_id, sequence: 1, digest: '' })
    const mirror = { url: 'https://files.example/', sha256: null, run_id: 'run', fetched_at: null, trouble: null }
    await putMirror(writable(db()), { ...mirror, delegation_id, filename: 'seen' })
  }

  const watched = async (id: string) => [
    (await findSeenFiles(db(), id, ['seen'])).size,
    (await findStatement(db(), id, 1)) ? 1 : 0,
    (await findMirrors(db(), id)).size,
  ]

  it('AGENT-04 keeps the log permanently and deletes webhook deliveries after thirty days', async () => {
    const id = await newDelegation()
    await writable(db())
      .transaction()
      .execute((tx) => addFindings(agent.context, tx, id, [{ kind: 'file_gone', detail: {} }]))
    const told = () => db().selectFrom('deliveries').selectAll().where('delegation_id', '=', id).execute()
    await deleteAfter(30 * DAY)
    expect(await told()).toHaveLength(1)
    await deleteAfter(30 * DAY + 1)
    expect(await told()).toEqual([])
    // A late job finds nothing to deliver.
    expect(await agent.context.queue.drain()).toMatchObject({ failed: 0, dead: 0 })
    await deleteAfter(10_000 * DAY)
    expect(await findingsAfter(db(), id, 0, 10)).toHaveLength(1)
  })

  it('AGENT-04 keeps the records that the next run needs, and deletes them once the delegation has ended', async () => {
    const open = await newDelegation()
    const ended = await newDelegation({ state: 'ended', ended_at: START })
    const revoked = await newDelegation({ state: 'revoked', ended_at: START })
    for (const id of [open, ended, revoked]) await see(id)
    await deleteAfter(0)
    expect(await Promise.all([open, ended, revoked].map(watched))).toEqual([
      [1, 1, 1],
      [0, 0, 0],
      [0, 0, 0],
    ])
  })

  it('AGENT-04 keeps every delegation that was registered, and deletes others thirty days after their end', async () => {
    const never = { registered_at: null, state: 'ended', ended_at: START } as const
    const ids = [
      await newDelegation({ state: 'pending', registered_at: null }),
      await newDelegation({ state: 'ended', ended_at: START }),
      await newDelegation(never),
    ]
    const stored = async () => (await Promise.all(ids.map((id) => findDelegation(db(), id)))).map(Boolean)
    await deleteAfter(30 * DAY)
    expect(await stored()).toEqual([true, true, true])
    await deleteAfter(30 * DAY + 1)
    expect(await stored()).toEqual([true, true, false])
  })

  it('AGENT-02 T-11 keeps paid quotes, and deletes unpaid ones long after they could be paid', async () => {
    const quoted = async (id: string) => {
      await insertPayRequest(writable(db()), {
        pay_req_id: id,
        created_at: START - 900,
        expires_at: START,
        quote: '{}',
      })
      return id
    }
    const [paid, unpaid] = [await quoted('paid'), await quoted('unpaid')]
    const times = { starts_at: START, expires_at: START + 30 * DAY }
    const purchase = { receipt_id: paid, network: 'n', tx: paid, identity: 'i', subscription_id: 's', ...times }
    await insertPurchase(writable(db()), { ...purchase, pay_req_id: paid, receipt: {} as never })
    const remaining = async () => (await findPayRequests()).map(({ pay_req_id }) => pay_req_id)
    await deleteAfter(92 * DAY)
    expect(await remaining()).toEqual([paid, unpaid])
    await deleteAfter(92 * DAY + 1)
    expect(await remaining()).toEqual([paid])
  })

  it('T-140 keeps a limited number of the newest quotes that can no longer be confirmed', async () => {
    const ends = [1, 2, 3, 4].map((day) => START + day * DAY)
    for (const expires_at of ends)
      await insertPayRequest(writable(db()), {
        pay_req_id: `pr_${expires_at}`,
        created_at: START,
        expires_at,
        quote: '{}',
      })
    now = START + 6 * DAY - 1
    await deleteOldData(agent.context, new AbortController().signal, 2)
    expect((await findPayRequests()).map(({ expires_at }) => expires_at)).toEqual(ends.slice(1))
  })
})
