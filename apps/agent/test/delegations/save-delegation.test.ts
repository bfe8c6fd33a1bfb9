import type { DelegateAnswer } from '@svc/api/agent/delegations'
import type { Tasks } from '@svc/api/agent/tasks'
import { forEachDatabase } from '@svc/devnet/databases'
import { startTestAgent } from '@svc/devnet/services/agent'
import { writable } from '@svc/devnet/writable'
import type { Locker } from '@svc/sdk'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Agent } from '../../src/agent.ts'
import type { DelegationRow } from '../../src/db/schema.ts'
import { closeDelegation, delegationsOf } from '../../src/delegations/store.ts'
import { type AgentStack, delegateCall, startAgentStack } from '../agent-stack.ts'
import { ed25519Wallet, type Wallet } from '../wallets.ts'

const KEYS = { AGENT_KEY: '0a'.repeat(32), DELEGATION_KEY: '0b'.repeat(32) }

forEachDatabase('agent services on one database', (database) => {
  let stack: AgentStack
  let second: Agent
  let owner: Wallet
  beforeAll(async () => {
    const settings = { ...KEYS, DATABASE_URL: database.url, MAX_DELEGATIONS: '5' }
    stack = await startAgentStack(settings)
    const { chains, proxy, clock, agent } = stack
    const started = () =>
      startTestAgent({ ...chains.agentVariables, GATEWAY_URL: proxy.url, ...settings }, { now: clock.now })
    // SQLite is for one process, which runs at most one transaction concurrently.
    second = database.dialect === 'sqlite' ? agent : await started()
  })
  afterAll(async () => {
    if (second !== stack.agent) await second.stop()
    await stack.stop()
  })
  beforeEach(async () => {
    owner = await stack.grantSubscription(ed25519Wallet())
  })

  const db = () => stack.agent.context.database.db
  const rows = () => delegationsOf(db(), owner.identity, 100)
  const open = async () => (await rows()).filter(({ ended_at }) => ended_at === null)
  const seconds = () => stack.clock.seconds()

  /** Alternates between the two services. */
  async function delegate(index: number, locker: Locker, tasks?: Tasks) {
    const { headers, body } = stack.sign(owner, delegateCall(locker, tasks))
    const url = `${[stack.agent.url, second.url][index % 2]}/v1/delegate`
    const json = { 'content-type': 'application/json', ...headers }
    const response = await fetch(url, { method: 'POST', headers: json, body: body as BodyInit })
    return { status: response.status, body: (await response.json()) as DelegateAnswer }
  }
  const twenty = <T>(ask: (index: number) => Promise<T>) => Promise.all(Array.from({ length: 20 }, (_, i) => ask(i)))

  const drainAll = () => Promise.all([...new Set([stack.agent, second])].map(({ context }) => context.queue.drain()))

  it('AGENT-04 T-18 never exceed the limit of open delegations under concurrent requests', async () => {
    const lockers = await twenty(() => stack.seedLocker(owner))
    const answers = await twenty((index) => delegate(index, lockers[index]!))
    const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length
    expect([count(200), count(409)]).toEqual([5, 15])
    expect(await rows()).toHaveLength(5)
  })

  it('AGENT-04 keep at most one open delegation per locker while it is ended and created again', async () => {
    const locker = await stack.seedLocker(owner)
    const { delegation_id } = (await delegate(0, locker)).body
    const answers = await twenty(async (index) => {
      if (index === 10) await closeDelegation(writable(db()), delegation_id, { state: 'ended', at: seconds() })
      return (await delegate(index, locker)).status
    })
    expect(new Set(answers)).toEqual(new Set([200]))
    const [remaining, ...more] = await open()
    expect([more, remaining?.delegation_id === delegation_id]).toEqual([[], false])
    expect(await rows()).toHaveLength(2)
  })

  it('AGENT-04 schedule the right tasks when the key is found while the tasks change', async () => {
    const locker = await stack.seedLocker(owner)
    const { delegation_id, agent_pubkey } = (await delegate(0, locker)).body
    await stack.client(owner).addOperator(locker, agent_pubkey)
    const mirror = { sources: [{ url: 'https://files.example/a', filename: 'a' }] }
    await Promise.all([
      second.modules.delegations.checkRegistration(delegation_id),
      delegate(0, locker, { mirror }),
      stack.agent.modules.delegations.checkRegistration(delegation_id),
    ])
    const [{ state, mirror_at, watch_at }] = (await rows()) as [DelegationRow]
    expect({ state, mirror_at, watch_at }).toEqual({ state: 'active', mirror_at: seconds(), watch_at: null })
  })

  it('AGENT-04 T-11 limit new delegations per day, however many were ended', async () => {
    const locker = await stack.seedLocker(owner)
    const endAndMake = async () => {
      for (const { delegation_id } of await open())
        await closeDelegation(writable(db()), delegation_id, { state: 'ended', at: seconds() })
      return (await delegate(0, locker)).status
    }
    for (let made = 0; made < 25; made++) expect(await endAndMake()).toBe(200)
    expect([await endAndMake(), (await rows()).length]).toEqual([409, 25])
    stack.clock.advance(86_400)
    expect(await endAndMake()).toBe(200)
  })

  it('AGENT-04 check the registration once, in either process', async () => {
    const locker = await stack.seedLocker(owner)
    await delegate(0, locker)
    const countChecks = () => stack.proxy.seen.filter(({ path }) => path.endsWith(locker.locker_id)).length
    await drainAll()
    expect(countChecks()).toBe(1)
    stack.clock.advance(14)
    await drainAll()
    expect(countChecks()).toBe(1)
    stack.clock.advance(1)
    await drainAll()
    expect(countChecks()).toBe(2)
  })

  it('AGENT-04 list open delegations first, then newest first', async () => {
    const made: string[] = []
    for (let i = 0; i < 4; i++) {
      made.push((await delegate(i, await stack.seedLocker(owner))).body.delegation_id)
      stack.clock.advance(1)
    }
    for (const i of [3, 1]) await closeDelegation(writable(db()), made[i]!, { state: 'ended', at: seconds() })
    const listed = (await rows()).map(({ delegation_id }) => made.indexOf(delegation_id))
    expect(listed).toEqual([2, 0, 3, 1])
    expect(await delegationsOf(db(), owner.identity, 3)).toHaveLength(3)
  })
})
