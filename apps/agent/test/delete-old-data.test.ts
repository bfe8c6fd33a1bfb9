import { randomBytes } from 'node:crypto'
import { forEachDatabase } from '@svc/devnet/databases'
import { toHex } from '@svc/protocol/bytes'
import { startTestAgent } from '@svc/testbed/agent'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Agent } from '../src/agent.ts'
import type { DelegationRow } from '../src/db/schema.ts'
import { findDelegation, insertDelegation } from '../src/delegations/store.ts'
import { forgetOld } from '../src/delete-old-data.ts'
import { insertBought, insertPayRequest, lockSubscription } from '../src/subscriptions/store.ts'
import { addFindings } from '../src/work/findings/add-findings.ts'
import { findingsAfter } from '../src/work/runs/store.ts'
import {
  findMirrors,
  findSeenFiles,
  findStatement,
  putMirror,
  putSeenFiles,
  putStatement,
} from '../src/work/tasks/watch-store.ts'

const DAY = 86_400
const START = 1_800_000_000

forEachDatabase('what is kept', (database) => {
  let now = START
  let agent: Agent
  beforeAll(async () => {
    agent = await startTestAgent({ DATABASE_URL: database.url, LATE_CONFIRM_HOURS: '48' }, { now: () => now * 1000 })
  })
  afterAll(() => agent.stop())
  beforeEach(() => {
    now = START
  })

  const db = () => agent.context.database.db
  const forgetAfter = (seconds: number) => {
    now = START + seconds
    return forgetOld(agent.context, new AbortController().signal)
  }

  async function newDelegation(changes: Partial<DelegationRow> = {}): Promise<string> {
    const id = toHex(randomBytes(16))
    await lockSubscription(db(), `owner ${id}`, `sub_${id}`)
    await insertDelegation(db(), {
      delegation_id: `dlg_${id}`,
      identity: `owner ${id}`,
      receipt_id: `rcpt_${id}`,
      locker_id: `locker_${id}`,
      state: 'active',
      tasks: JSON.stringify({ tell: { url: 'https://hooks.example/' } }),
      created_at: START,
      registered_at: START,
      ended_at: null,
      check_at: null,
      checks: 0,
      mirror_at: null,
      watch_at: null,
      finding_count: 0,
      alert_count: 0,
      last_digest: null,
      ...changes,
    })
    return `dlg_${id}`
  }

  async function see(delegation_id: string): Promise<void> {
    const file = { sha256: '', size_bytes: 1, run_id: 'run', read_at: null, trouble: null }
    await putSeenFiles(db(), [{ ...file, delegation_id, filename: 'seen' }])
    await putStatement(db(), { delegation_id, sequence: 1, digest: '' })
    const mirror = { url: 'https://files.example/', sha256: null, run_id: 'run', fetched_at: null, trouble: null }
    await putMirror(db(), { ...mirror, delegation_id, filename: 'seen' })
  }

  const seen = async (id: string) => [
    (await findSeenFiles(db(), id, ['seen'])).size,
    (await findStatement(db(), id, 1)) ? 1 : 0,
    (await findMirrors(db(), id)).size,
  ]

  it('AGENT-04 is the log, for ever; what became of webhooks is forgotten after thirty days', async () => {
    const id = await newDelegation()
    await db()
      .transaction()
      .execute((tx) => addFindings(agent.context, tx, id, [{ kind: 'file_gone', detail: {} }]))
    const told = () => db().selectFrom('deliveries').selectAll().where('delegation_id', '=', id).execute()
    await forgetAfter(30 * DAY)
    expect(await told()).toHaveLength(1)
    await forgetAfter(30 * DAY + 1)
    expect(await told()).toEqual([])
    // A job that comes so late finds nothing to do.
    expect(await agent.context.queue.drain()).toMatchObject({ failed: 0, dead: 0 })
    await forgetAfter(10_000 * DAY)
    expect(await findingsAfter(db(), id, 0, 10)).toHaveLength(1)
  })

  it('AGENT-04 of lockers is what the next run compares with, and nothing once the delegation has ended', async () => {
    const open = await newDelegation()
    const ended = await newDelegation({ state: 'ended', ended_at: START })
    const revoked = await newDelegation({ state: 'revoked', ended_at: START })
    for (const id of [open, ended, revoked]) await see(id)
    await forgetAfter(0)
    expect(await Promise.all([open, ended, revoked].map(seen))).toEqual([
      [1, 1, 1],
      [0, 0, 0],
      [0, 0, 0],
    ])
  })

  it('AGENT-04 is every delegation that was ever worked on; one whose key never came goes thirty days after its end', async () => {
    const never = { registered_at: null, state: 'ended', ended_at: START } as const
    const ids = [
      await newDelegation({ state: 'pending', registered_at: null }),
      await newDelegation({ state: 'ended', ended_at: START }),
      await newDelegation(never),
    ]
    const kept = async () => (await Promise.all(ids.map((id) => findDelegation(db(), id)))).map(Boolean)
    await forgetAfter(30 * DAY)
    expect(await kept()).toEqual([true, true, true])
    await forgetAfter(30 * DAY + 1)
    expect(await kept()).toEqual([true, true, false])
  })

  it('AGENT-02 T-11 is every quote that was paid; one that nobody paid goes long after nobody could', async () => {
    const quoted = async (id: string) => {
      const pay_req_id = `pr_${id}_${database.dialect}`
      await insertPayRequest(db(), { pay_req_id, created_at: START - 900, expires_at: START, quote: '{}' })
      return pay_req_id
    }
    const [paid, unpaid] = [await quoted('paid'), await quoted('unpaid')]
    const times = { starts_at: START, expires_at: START + 30 * DAY }
    const bought = { receipt_id: paid, network: 'n', tx: paid, identity: 'i', subscription_id: 's', ...times }
    await insertBought(db(), { ...bought, pay_req_id: paid, receipt: {} as never })
    const left = async () =>
      (await db().selectFrom('pay_requests').select('pay_req_id').orderBy('pay_req_id').execute()).map(
        ({ pay_req_id }) => pay_req_id,
      )
    await forgetAfter(92 * DAY)
    expect(await left()).toEqual([paid, unpaid])
    await forgetAfter(92 * DAY + 1)
    expect(await left()).toEqual([paid])
  })
})
