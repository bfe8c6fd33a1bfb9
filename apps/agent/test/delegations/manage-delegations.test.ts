import type { Delegation, DelegationList, DelegationSummary } from '@svc/api/agent/delegations'
import { DEFAULT_TASKS } from '@svc/api/agent/tasks'
import { isoSeconds } from '@svc/protocol/evidence'
import { isFindingChain, type SignedFinding, signFinding } from '@svc/protocol/finding'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { insertFindings, insertRun, setLogEnd } from '../../src/work/runs/store.ts'
import { type Agency, ed25519Person, evmPerson, expectRefusal, openAgency, type Person } from '../agent-stack.ts'

describe('delegations', () => {
  let agency: Agency
  let owner: Person
  beforeAll(async () => {
    agency = await openAgency()
  })
  afterAll(() => agency.close())
  beforeEach(async () => {
    owner = await agency.grant(ed25519Person())
  })

  const list = async (who: Person) => {
    const { status, body } = await agency.call<DelegationList>(who, { path: '/v1/delegations', ops: ['locker:read'] })
    expect(status, JSON.stringify(body)).toBe(200)
    return body
  }
  const end = (who: Person, id: string) =>
    agency.call<DelegationSummary>(who, { method: 'DELETE', path: `/v1/delegations/${id}`, ops: ['locker:admin'] })
  const iso = () => isoSeconds(Math.floor(agency.clock.now() / 1000))

  it('AGENT-04 are listed with the subscription, those that have not ended first, then the newest', async () => {
    const made: string[] = []
    for (let i = 0; i < 4; i++) {
      made.push((await agency.delegate(owner, await agency.locker(owner))).delegation_id)
      agency.clock.advance(1)
    }
    await end(owner, made[3]!)
    await end(owner, made[1]!)
    const { subscription, delegations } = await list(owner)
    expect(subscription).toMatchObject({ identity: owner.identity, status: 'active' })
    expect(delegations.map(({ delegation_id, status }) => [made.indexOf(delegation_id), status])).toEqual([
      [2, 'pending'],
      [0, 'pending'],
      [3, 'ended'],
      [1, 'ended'],
    ])
  })

  it('AGENT-04 of somebody without any are an empty list', async () => {
    expect(await list(evmPerson())).toEqual({ subscription: null, delegations: [] })
  })

  it('AGENT-04 show what is known of them', async () => {
    const locker = await agency.locker(owner)
    const tasks = { ...DEFAULT_TASKS, tell: { url: 'https://hooks.example/', only_alerts: false } }
    const made = await agency.delegate(owner, locker, tasks)
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
    expect(await agency.read(owner, delegation_id)).toEqual({ ...summary, ...rest, next_step })
    await agency.delegateActively(owner, locker)
    expect(await agency.read(owner, delegation_id)).toEqual({
      ...summary,
      ...rest,
      status: 'active',
      registered_at: iso(),
      next_runs: { watch: iso() },
    })
  })

  it('AGENT-04 rest while the subscription does not run, and go on when it does', async () => {
    const waiting = await agency.delegate(owner, await agency.locker(owner))
    const working = await agency.delegateActively(owner, await agency.locker(owner))
    const over = await agency.delegate(owner, await agency.locker(owner))
    await end(owner, over.delegation_id)
    const statuses = async () =>
      Promise.all(
        [waiting, working, over].map(async ({ delegation_id }) => (await agency.read(owner, delegation_id)).status),
      )
    expect(await statuses()).toEqual(['pending', 'active', 'ended'])
    agency.clock.advance(30 * 86_400)
    expect(await statuses()).toEqual(['paused', 'paused', 'ended'])
    expect((await list(owner)).subscription?.status).toBe('expired')
    expect((await agency.read(owner, working.delegation_id)).next_runs).toEqual({})
    await agency.grant(owner)
    expect(await statuses()).toEqual(['pending', 'active', 'ended'])
  })

  it('AGENT-04 show their runs, the newest first, and their log page by page', async () => {
    const { delegation_id, locker_id } = await agency.delegate(owner, await agency.locker(owner))
    const { database, signer } = agency.agent.context
    const findings: SignedFinding[] = []
    for (let sequence = 1; sequence <= 600; sequence++) {
      const previous_digest = findings.at(-1)?.digest ?? null
      const about = { delegation_id, locker_id, sequence, at: iso(), previous_digest }
      findings.push(signFinding({ ...about, kind: 'file_new', severity: 'info', detail: { sequence } }, signer))
    }
    await insertFindings(database.db, findings)
    const last_digest = findings.at(-1)!.digest
    await setLogEnd(database.db, { delegation_id, finding_count: 600, alert_count: 3, last_digest })
    // One that comes just when it is read: its count is not known yet.
    await insertFindings(database.db, [{ ...findings.at(-1)!, sequence: 601 }])
    const run = { delegation_id, task: 'watch', summary: '{"files":2}' } as const
    await insertRun(database.db, { ...run, run_id: 'run_1', started_at: 10, finished_at: 20, outcome: 'done' })
    await insertRun(database.db, { ...run, run_id: 'run_2', started_at: 30, finished_at: null, outcome: 'running' })

    const first = await agency.read(owner, delegation_id)
    expect(first).toMatchObject({ findings: 600, alerts: 3, next_after: 500 })
    expect(first.runs).toEqual([
      { task: 'watch', started_at: isoSeconds(30), finished_at: null, outcome: 'running', summary: { files: 2 } },
      {
        task: 'watch',
        started_at: isoSeconds(10),
        finished_at: isoSeconds(20),
        outcome: 'done',
        summary: { files: 2 },
      },
    ])
    const second = await agency.read(owner, delegation_id, first.next_after)
    expect(second.next_after).toBeUndefined()
    expect([...first.log, ...second.log]).toEqual(findings)
    expect(isFindingChain(findings)).toBe(true)
    expect((await agency.read(owner, delegation_id, 600)).log).toEqual([])
  })

  it('AGENT-04 end once, keep their log, and are seen by nobody else', async () => {
    const { delegation_id: id } = await agency.delegateActively(owner, await agency.locker(owner))
    agency.clock.advance(5)
    const ended = await end(owner, id)
    expect([ended.status, ended.body]).toEqual([200, expect.objectContaining({ status: 'ended', ended_at: iso() })])
    agency.clock.advance(5)
    expect((await end(owner, id)).body).toEqual(ended.body)
    expect(await agency.read(owner, id)).toMatchObject({ ...ended.body, next_runs: {}, log: [] })
    const stranger = await agency.grant(evmPerson())
    expectRefusal(
      await agency.call(stranger, { path: `/v1/delegations/${id}`, ops: ['locker:read'] }),
      404,
      'delegation_not_found',
    )
  })

  it('AGENT-04 of two identities are never seen, nor ended, by the other', async () => {
    const other = await agency.grant(evmPerson())
    const mine = await agency.delegate(owner, await agency.locker(owner))
    const theirs = await agency.delegate(other, await agency.locker(other))
    const idsOf = async (who: Person) => (await list(who)).delegations.map(({ delegation_id }) => delegation_id)
    expect([await idsOf(owner), await idsOf(other)]).toEqual([[mine.delegation_id], [theirs.delegation_id]])
    for (const id of [theirs.delegation_id, `dlg_${'0'.repeat(32)}`]) {
      const path = `/v1/delegations/${id}`
      const replies = [await agency.call(owner, { path, ops: ['locker:read'] }), await end(owner, id)]
      for (const reply of replies) expectRefusal(reply, 404, 'delegation_not_found')
    }
    expect((await agency.read(other, theirs.delegation_id)).status).toBe('pending')
  })

  it.each(['', `/dlg_${'0'.repeat(32)}`])(
    'AGENT-04 T-04 /v1/delegations%s is for whom the header names and who signed',
    async (rest) => {
      const path = `/v1/delegations${rest}`
      const call = { path, ops: ['locker:read'] }
      const other = evmPerson()
      expectRefusal(await agency.send('GET', path), 401, 'MISSING_ENVELOPE')
      expectRefusal(await agency.call(owner, { ...call, identity: null }), 422, 'validation_error')
      expectRefusal(await agency.call(owner, { ...call, identity: other.identity }), 403, 'SIGNATURE_INVALID')
      expectRefusal(await agency.call(owner, { ...call, ops: ['locker:list'] }), 403, 'MISSING_OPS')
      expectRefusal(await agency.call(owner, { ...call, envelope: { path: '/v1/delegate' } }), 403, 'PATH_MISMATCH')
      const { headers } = agency.sign(owner, call)
      expect((await agency.send('GET', path, undefined, headers)).status).toBe(rest ? 404 : 200)
      expectRefusal(await agency.send('GET', path, undefined, headers), 403, 'NONCE_REPLAYED')
    },
  )

  it('AGENT-04 are ended by who may administer, not by who may read', async () => {
    const { delegation_id: id } = await agency.delegate(owner, await agency.locker(owner))
    const path = `/v1/delegations/${id}`
    const read = { method: 'DELETE', path, ops: ['locker:read'] }
    expectRefusal(await agency.call(owner, read), 403, 'MISSING_OPS')
    const { headers } = agency.sign(owner, { path, ops: ['locker:read', 'locker:admin'] })
    expectRefusal(await agency.send('DELETE', path, undefined, headers), 403, 'METHOD_MISMATCH')
    expect((await agency.read(owner, id)).status).toBe('pending')
  })

  it('GEN-07 with ids and pages of another form are refused', async () => {
    for (const path of ['/v1/delegations/1', '/v1/delegations/dlg_x', `/v1/delegations/dlg_${'0'.repeat(32)}?after=-1`])
      expectRefusal(await agency.call<Delegation>(owner, { path, ops: ['locker:read'] }), 422, 'validation_error')
  })
})
