import { isoSeconds } from '@svc/protocol/evidence'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { DelegationRow } from '../../src/db/schema.ts'
import { checkRegistration } from '../../src/delegations/check-registration.ts'
import { noteRevoked } from '../../src/delegations/note-revoked.ts'
import { closeDelegation, findDelegation } from '../../src/delegations/store.ts'
import { type Agency, ed25519Person, evmPerson, openAgency, type Person } from '../agent-stack.ts'

describe('the key of a delegation', () => {
  let agency: Agency
  let owner: Person
  beforeAll(async () => {
    agency = await openAgency()
  })
  afterAll(() => agency.close())
  beforeEach(async () => {
    agency.between.behave()
    owner = await agency.grant(ed25519Person())
  })

  const row = async (id: string) => (await findDelegation(agency.agent.context.database.db, id)) as DelegationRow
  const seconds = () => Math.floor(agency.clock.now() / 1000)
  const looks = () => agency.between.seen.filter(({ path }) => path.startsWith('/v1/storage/metadata/')).length
  const check = (id: string) => checkRegistration(agency.agent.context, id)

  it('AGENT-04 is looked for at once, then less and less often, as long as it is not registered', async () => {
    const { delegation_id: id } = await agency.delegate(owner, await agency.locker(owner))
    const pauses: number[] = []
    for (let checks = 1; checks <= 8; checks++) {
      await agency.drain()
      const { state, check_at } = await row(id)
      expect(state).toBe('pending')
      pauses.push(check_at! - seconds())
      agency.clock.advance(check_at! - seconds())
    }
    expect(pauses).toEqual([15, 30, 60, 120, 300, 900, 3600, 3600])
  })

  it('AGENT-04 is found by the clock when it was registered late, and its tasks are due', async () => {
    const locker = await agency.locker(owner)
    const { delegation_id: id, agent_pubkey } = await agency.delegate(owner, locker)
    for (const pause of [0, 15, 30, 60]) {
      agency.clock.advance(pause)
      await agency.drain()
    }
    await agency.client(owner).addOperator(locker, agent_pubkey)
    agency.clock.advance(119)
    await agency.drain()
    expect((await row(id)).state).toBe('pending')
    agency.clock.advance(61)
    await agency.drain()
    expect(await row(id)).toMatchObject({ state: 'active', registered_at: seconds(), check_at: null, checks: 0 })
  })

  it('AGENT-04 is looked for at once when the locker is delegated again', async () => {
    const locker = await agency.locker(owner)
    const { delegation_id: id, agent_pubkey } = await agency.delegate(owner, locker)
    for (let checks = 0; checks < 6; checks++) {
      await check(id)
      agency.clock.advance(60)
    }
    expect((await row(id)).check_at).toBeGreaterThan(seconds() + 60)
    await agency.delegate(owner, locker)
    await agency.drain()
    expect(await row(id)).toMatchObject({ state: 'pending', check_at: seconds() + 15, checks: 1 })
    await agency.client(owner).addOperator(locker, agent_pubkey)
    await agency.delegate(owner, locker)
    agency.clock.advance(15)
    await agency.drain()
    expect((await row(id)).state).toBe('active')
  })

  it('AGENT-04 that is found again changes nothing', async () => {
    const { delegation_id: id } = await agency.delegateActively(owner, await agency.locker(owner))
    const before = await row(id)
    agency.clock.advance(60)
    await check(id)
    expect(await row(id)).toEqual(before)
  })

  it('AGENT-04 that is found when the delegation has just ended does not bring it back', async () => {
    const locker = await agency.locker(owner)
    const { delegation_id: id, agent_pubkey } = await agency.delegate(owner, locker)
    await agency.client(owner).addOperator(locker, agent_pubkey)
    let ending: Promise<void> | undefined
    const lie = (answer: unknown) => {
      ending ??= closeDelegation(agency.agent.context.database.db, id, { state: 'ended', at: seconds() })
      return answer
    }
    agency.between.always(/metadata/, { lie })
    await check(id)
    await ending
    expect(await row(id)).toMatchObject({ state: 'ended', registered_at: null, watch_at: null })
  })

  it('AGENT-04 that cannot be asked after for hours leaves no dead letters, and is found in the end', async () => {
    const locker = await agency.locker(owner)
    const { delegation_id: id, agent_pubkey } = await agency.delegate(owner, locker)
    await agency.client(owner).addOperator(locker, agent_pubkey)
    agency.between.always(/metadata/, { answer: { status: 500, body: { error: 'internal_error', message: 'x' } } })
    for (let minutes = 0; minutes < 300; minutes += 5) {
      agency.clock.advance(300)
      await agency.drain()
    }
    expect([(await row(id)).state, await agency.agent.context.queue.deadLetters()]).toEqual(['pending', []])
    agency.between.behave()
    agency.clock.advance(1800)
    await agency.drain()
    expect((await row(id)).state).toBe('active')
  })

  it('AGENT-04 T-10 of a locker that is delegated anew again and again brings no work sooner than in an hour', async () => {
    const locker = await agency.locker(owner)
    const first = await agency.delegateActively(owner, locker)
    await agency.drain()
    const begun = seconds()
    agency.clock.advance(60)
    const end = { method: 'DELETE', path: `/v1/delegations/${first.delegation_id}`, ops: ['locker:admin'] }
    expect((await agency.call(owner, end)).status).toBe(200)
    const { delegation_id: id } = await agency.delegateActively(owner, locker)
    expect((await row(id)).watch_at).toBe(begun + 3600)
    await agency.drain()
    expect((await agency.read(owner, id)).runs).toEqual([])
    agency.clock.advance(3600)
    await agency.drain()
    expect((await agency.read(owner, id)).runs).toHaveLength(1)
  })

  it('AGENT-04 that is registered makes its tasks due, and no others', async () => {
    const sources = [{ url: 'https://files.example/a', filename: 'a' }]
    const tasks = [{ watch: {} }, { mirror: { sources } }, { watch: {}, mirror: { sources } }]
    for (const asked of tasks) {
      const { delegation_id: id } = await agency.delegateActively(owner, await agency.locker(owner), asked)
      const { mirror_at, watch_at } = await row(id)
      expect([mirror_at, watch_at]).toEqual(['mirror', 'watch'].map((task) => (task in asked ? seconds() : null)))
      const { next_runs } = await agency.read(owner, id)
      expect(next_runs).toEqual(Object.fromEntries(Object.keys(asked).map((task) => [task, isoSeconds(seconds())])))
    }
  })

  it('AGENT-04 that the owner removes ends just that delegation, for good', async () => {
    const evm = await agency.grant(evmPerson())
    const [one, two] = [await agency.locker(evm), await agency.locker(evm)]
    const first = await agency.delegateActively(evm, one)
    const other = await agency.delegateActively(evm, two)
    await agency.client(evm).removeOperator(one, first.agent_pubkey)
    agency.clock.advance(7)
    await check(first.delegation_id)
    await check(other.delegation_id)
    const revoked = await agency.read(evm, first.delegation_id)
    expect(revoked).toMatchObject({ status: 'revoked', ended_at: isoSeconds(seconds()), next_runs: {} })
    expect((await agency.read(evm, other.delegation_id)).status).toBe('active')

    await agency.client(evm).addOperator(one, first.agent_pubkey)
    await check(first.delegation_id)
    await agency.drain()
    expect(await agency.read(evm, first.delegation_id)).toEqual(revoked)
    const again = await agency.delegate(evm, one)
    expect([again.status, again.agent_pubkey === first.agent_pubkey]).toEqual(['pending', false])
  })

  it('AGENT-04 whose removal a run noticed is the same, and what has ended stays as it ended', async () => {
    const { delegation_id: id } = await agency.delegateActively(owner, await agency.locker(owner))
    await noteRevoked(agency.agent.context, id)
    const revoked = await row(id)
    expect(revoked).toMatchObject({ state: 'revoked', ended_at: seconds(), mirror_at: null, watch_at: null })
    agency.clock.advance(60)
    await noteRevoked(agency.agent.context, id)
    const path = `/v1/delegations/${id}`
    const ended = await agency.call(owner, { method: 'DELETE', path, ops: ['locker:admin'] })
    expect([ended.status, ended.body]).toEqual([200, expect.objectContaining({ status: 'revoked' })])
    expect(await row(id)).toEqual(revoked)
  })

  it('AGENT-04 is not given up because the gateway is away, and found when it is back', async () => {
    const locker = await agency.locker(owner)
    const active = await agency.delegateActively(owner, await agency.locker(owner))
    const pending = await agency.delegate(owner, locker)
    await agency.client(owner).addOperator(locker, pending.agent_pubkey)
    const before = [await row(active.delegation_id), await row(pending.delegation_id)]
    for (const status of [500, 429]) {
      const answer = { status, headers: { 'retry-after': '3600' }, body: { error: 'internal_error', message: '' } }
      agency.between.always(/metadata/, { answer })
      await expect(check(active.delegation_id)).rejects.toThrow()
      await expect(check(pending.delegation_id)).rejects.toThrow()
      expect([await row(active.delegation_id), await row(pending.delegation_id)]).toEqual(before)
      agency.between.behave()
    }
    await agency.drain()
    expect((await row(pending.delegation_id)).state).toBe('active')
  })

  it('AGENT-04 is not looked for without a subscription, and again when there is one', async () => {
    const locker = await agency.locker(owner)
    const { delegation_id: id, agent_pubkey } = await agency.delegate(owner, locker)
    await agency.client(owner).addOperator(locker, agent_pubkey)
    agency.clock.advance(30 * 86_400)
    const before = looks()
    await agency.drain()
    expect([looks() - before, (await agency.read(owner, id)).status]).toEqual([0, 'paused'])
    await agency.grant(owner)
    agency.clock.advance(60)
    await agency.drain()
    expect((await agency.read(owner, id)).status).toBe('active')
  })

  it('AGENT-04 is not looked for once the delegation has ended', async () => {
    const { delegation_id: id } = await agency.delegate(owner, await agency.locker(owner))
    await agency.call(owner, { method: 'DELETE', path: `/v1/delegations/${id}`, ops: ['locker:admin'] })
    const before = looks()
    await agency.drain()
    await check('dlg_of_nobody')
    expect([looks() - before, (await row(id)).state]).toEqual([0, 'ended'])
  })

  it('AGENT-04 T-10 of one owner are looked for ten times a minute, and of others as before', async () => {
    const other = await agency.grant(ed25519Person())
    const ids: string[] = []
    for (let i = 0; i < 12; i++) ids.push((await agency.delegate(owner, await agency.locker(owner))).delegation_id)
    const before = looks()
    for (const id of ids) await check(id)
    expect(looks() - before).toBe(10)
    expect([(await row(ids[9]!)).checks, (await row(ids[10]!)).checks]).toEqual([1, 0])
    expect((await row(ids[10]!)).check_at).toBe(seconds() + 15)
    await check((await agency.delegate(other, await agency.locker(other))).delegation_id)
    expect(looks() - before).toBe(11)
    agency.clock.advance(15)
    await check(ids[10]!)
    expect((await row(ids[10]!)).checks).toBe(1)
  })
})
