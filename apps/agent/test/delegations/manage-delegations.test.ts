import type { DelegationList } from '@svc/api/agent/delegations'
import { DEFAULT_TASKS } from '@svc/api/agent/tasks'
import { forEachTest } from '@svc/devnet/for-tests'
import { writable } from '@svc/devnet/writable'
import { isoSeconds } from '@svc/protocol/evidence'
import { isFindingChain, type SignedFinding, signFinding } from '@svc/protocol/finding'
import { describe, expect, it } from 'vitest'
import { insertFindings, setLogEnd } from '../../src/work/findings/store.ts'
import { insertRun } from '../../src/work/runs/store.ts'
import { expectRefusal, useAgentStack } from '../agent-stack.ts'
import { ed25519Wallet, evmWallet, type Wallet } from '../wallets.ts'

describe('the delegations of an owner', () => {
  const stack = useAgentStack()
  const owner = forEachTest(() => stack.grantSubscription(ed25519Wallet()))

  const list = async (who: Wallet) => {
    const { status, body } = await stack.call<DelegationList>(who, { path: '/v1/delegations', ops: ['locker:read'] })
    expect(status, JSON.stringify(body)).toBe(200)
    return body
  }
  const iso = () => isoSeconds(stack.clock.seconds())

  it('AGENT-04 are shown with all their fields, before and after registration', async () => {
    const locker = await stack.seedLocker(owner)
    const tasks = { ...DEFAULT_TASKS, tell: { url: 'https://hooks.example/', only_alerts: false } }
    const made = await stack.delegate(owner, locker, tasks)
    const { delegation_id, agent_pubkey, next_step, webhook_secret } = made
    const summary = {
      delegation_id,
      ...locker,
      agent_pubkey,
      status: 'pending',
      tasks,
      created_at: iso(),
      registered_at: null,
      ended_at: null,
      findings: 0,
      alerts: 0,
      next_runs: {},
    }
    const rest = { webhook_secret, runs: [], log: [] }
    expect((await list(owner)).delegations).toEqual([summary])
    expect(await stack.readDelegation(owner, delegation_id)).toEqual({ ...summary, ...rest, next_step })
    await stack.delegateAndRegister(owner, locker)
    expect(await stack.readDelegation(owner, delegation_id)).toEqual({
      ...summary,
      ...rest,
      status: 'active',
      registered_at: iso(),
      next_runs: { watch: iso() },
    })
  })

  it('AGENT-04 are paused while the subscription has expired, and continue with a new one', async () => {
    const waiting = await stack.delegate(owner, await stack.seedLocker(owner))
    const working = await stack.delegateAndRegister(owner, await stack.seedLocker(owner))
    const over = await stack.delegate(owner, await stack.seedLocker(owner))
    await stack.endDelegation(owner, over.delegation_id)
    const read = ({ delegation_id }: typeof over) => stack.readDelegation(owner, delegation_id)
    const statuses = async () => (await Promise.all([waiting, working, over].map(read))).map(({ status }) => status)
    expect(await statuses()).toEqual(['pending', 'active', 'ended'])
    stack.clock.advance(30 * 86_400)
    expect(await statuses()).toEqual(['paused', 'paused', 'ended'])
    expect((await list(owner)).subscription?.status).toBe('expired')
    expect((await stack.readDelegation(owner, working.delegation_id)).next_runs).toEqual({})
    await stack.grantSubscription(owner)
    expect(await statuses()).toEqual(['pending', 'active', 'ended'])
  })

  it('AGENT-04 show their runs newest first and their log page by page', async () => {
    const { delegation_id, locker_id } = await stack.delegate(owner, await stack.seedLocker(owner))
    const { database, signer } = stack.agent.context
    const findings: SignedFinding[] = []
    for (let sequence = 1; sequence <= 600; sequence++) {
      const previous_digest = findings.at(-1)?.digest ?? null
      const about = { delegation_id, locker_id, sequence, at: iso(), previous_digest }
      findings.push(signFinding({ ...about, kind: 'file_new', severity: 'info', detail: { sequence } }, signer))
    }
    await insertFindings(writable(database.db), findings)
    const last_digest = findings.at(-1)!.digest
    await setLogEnd(writable(database.db), { delegation_id, finding_count: 600, alert_count: 3, last_digest })
    // A finding added during the read: the count does not include it yet.
    await insertFindings(writable(database.db), [{ ...findings.at(-1)!, sequence: 601 }])
    const run = { delegation_id, task: 'watch', summary: '{"files":2}' } as const
    await insertRun(writable(database.db), {
      ...run,
      run_id: 'run_1',
      started_at: 10,
      finished_at: 20,
      outcome: 'done',
    })
    await insertRun(writable(database.db), {
      ...run,
      run_id: 'run_2',
      started_at: 30,
      finished_at: null,
      outcome: 'running',
    })

    const shown = { task: 'watch', summary: { files: 2 } }
    const first = await stack.readDelegation(owner, delegation_id)
    expect(first).toMatchObject({ findings: 600, alerts: 3, next_after: 500 })
    expect(first.runs).toEqual([
      { ...shown, started_at: isoSeconds(30), finished_at: null, outcome: 'running' },
      { ...shown, started_at: isoSeconds(10), finished_at: isoSeconds(20), outcome: 'done' },
    ])
    const second = await stack.readDelegation(owner, delegation_id, first.next_after)
    expect(second.next_after).toBeUndefined()
    expect([...first.log, ...second.log]).toEqual(findings)
    expect(isFindingChain(findings)).toBe(true)
    expect((await stack.readDelegation(owner, delegation_id, 600)).log).toEqual([])
  })

  it('AGENT-04 end only once and keep their log', async () => {
    const { delegation_id: id } = await stack.delegateAndRegister(owner, await stack.seedLocker(owner))
    stack.clock.advance(5)
    const ended = await stack.endDelegation(owner, id)
    expect([ended.status, ended.body]).toEqual([200, expect.objectContaining({ status: 'ended', ended_at: iso() })])
    stack.clock.advance(5)
    expect((await stack.endDelegation(owner, id)).body).toEqual(ended.body)
    expect(await stack.readDelegation(owner, id)).toMatchObject({ ...ended.body, next_runs: {}, log: [] })
  })

  it('AGENT-04 can be neither read nor ended by another identity', async () => {
    const other = await stack.grantSubscription(evmWallet())
    const mine = await stack.delegate(owner, await stack.seedLocker(owner))
    const theirs = await stack.delegate(other, await stack.seedLocker(other))
    const idsOf = async (who: Wallet) => (await list(who)).delegations.map(({ delegation_id }) => delegation_id)
    expect([await idsOf(owner), await idsOf(other)]).toEqual([[mine.delegation_id], [theirs.delegation_id]])
    for (const id of [theirs.delegation_id, `dlg_${'0'.repeat(32)}`]) {
      const path = `/v1/delegations/${id}`
      const replies = [await stack.call(owner, { path, ops: ['locker:read'] }), await stack.endDelegation(owner, id)]
      for (const reply of replies) expectRefusal(reply, 404, 'delegation_not_found')
    }
    expect((await stack.readDelegation(other, theirs.delegation_id)).status).toBe('pending')
  })

  it('AGENT-04 are ended only with the locker:admin operation', async () => {
    const { delegation_id: id } = await stack.delegate(owner, await stack.seedLocker(owner))
    const path = `/v1/delegations/${id}`
    expectRefusal(await stack.call(owner, { method: 'DELETE', path, ops: ['locker:read'] }), 403, 'MISSING_OPS')
    expect((await stack.readDelegation(owner, id)).status).toBe('pending')
  })
})
