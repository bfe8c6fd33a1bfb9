import { writable } from '@svc/devnet/writable'
import { isoSeconds } from '@svc/protocol/evidence'
import { beforeEach, describe, expect, it } from 'vitest'
import type { DelegationRow } from '../../src/db/schema.ts'
import { closeDelegation, findDelegation } from '../../src/delegations/store.ts'
import { useAgentStack } from '../agent-stack.ts'
import { ed25519Wallet, evmWallet, type Wallet } from '../wallets.ts'

describe('the registration of a delegation key', () => {
  const stack = useAgentStack()
  let owner: Wallet
  beforeEach(async () => {
    stack.proxy.behave()
    owner = await stack.grantSubscription(ed25519Wallet())
  })

  const row = async (id: string) => (await findDelegation(stack.agent.context.database.db, id)) as DelegationRow
  const seconds = () => stack.clock.seconds()
  const countChecks = (lockerId = '') =>
    stack.proxy.seen.filter(({ path }) => path.startsWith('/v1/storage/metadata/') && path.endsWith(lockerId)).length
  const check = (id: string) => stack.agent.modules.delegations.checkRegistration(id)

  it('AGENT-04 is checked immediately, then less and less often while the key is not registered', async () => {
    const { delegation_id: id } = await stack.delegate(owner, await stack.seedLocker(owner))
    const pauses: number[] = []
    for (let checks = 1; checks <= 8; checks++) {
      await stack.runJobs()
      const { state, check_at } = await row(id)
      expect(state).toBe('pending')
      pauses.push(check_at! - seconds())
      stack.clock.advance(check_at! - seconds())
    }
    expect(pauses).toEqual([15, 30, 60, 120, 300, 900, 3600, 3600])
  })

  it('AGENT-04 is checked immediately when the locker is delegated again', async () => {
    const locker = await stack.seedLocker(owner)
    const { delegation_id: id, agent_pubkey } = await stack.delegate(owner, locker)
    for (let checks = 0; checks < 6; checks++) {
      await check(id)
      stack.clock.advance(60)
    }
    expect((await row(id)).check_at).toBeGreaterThan(seconds() + 60)
    await stack.delegate(owner, locker)
    await stack.runJobs()
    // The schedule may also have found it due.
    expect((await row(id)).check_at).toBeLessThanOrEqual(seconds() + 30)
    await stack.client(owner).addOperator(locker, agent_pubkey)
    await stack.delegate(owner, locker)
    stack.clock.advance(15)
    await stack.runJobs()
    expect((await row(id)).state).toBe('active')
  })

  it('AGENT-04 is not recorded for a delegation that ended during the check', async () => {
    const locker = await stack.seedLocker(owner)
    const { delegation_id: id, agent_pubkey } = await stack.delegate(owner, locker)
    await stack.client(owner).addOperator(locker, agent_pubkey)
    let ending: Promise<void> | undefined
    const lie = (answer: unknown) => {
      ending ??= closeDelegation(writable(stack.agent.context.database.db), id, { state: 'ended', at: seconds() })
      return answer
    }
    stack.proxy.always(/metadata/, { lie })
    await check(id)
    await ending
    expect(await row(id)).toMatchObject({ state: 'ended', registered_at: null, watch_at: null })
  })

  it('AGENT-04 removing a key permanently ends its own delegation and no other', async () => {
    const evm = await stack.grantSubscription(evmWallet())
    const [one, two] = [await stack.seedLocker(evm), await stack.seedLocker(evm)]
    const first = await stack.delegateAndRegister(evm, one)
    const other = await stack.delegateAndRegister(evm, two)
    await stack.client(evm).removeOperator(one, first.agent_pubkey)
    stack.clock.advance(7)
    await check(first.delegation_id)
    await check(other.delegation_id)
    const revoked = await stack.readDelegation(evm, first.delegation_id)
    expect(revoked).toMatchObject({ status: 'revoked', ended_at: isoSeconds(seconds()), next_runs: {} })
    expect((await stack.readDelegation(evm, other.delegation_id)).status).toBe('active')

    await stack.client(evm).addOperator(one, first.agent_pubkey)
    await check(first.delegation_id)
    await stack.runJobs()
    expect(await stack.readDelegation(evm, first.delegation_id)).toEqual(revoked)
    const again = await stack.delegate(evm, one)
    expect([again.status, again.agent_pubkey === first.agent_pubkey]).toEqual(['pending', false])
  })

  it('AGENT-04 is found after an outage of the gateway, which changes no delegation', async () => {
    const locker = await stack.seedLocker(owner)
    const active = await stack.delegateAndRegister(owner, await stack.seedLocker(owner))
    const pending = await stack.delegate(owner, locker)
    await stack.client(owner).addOperator(locker, pending.agent_pubkey)
    const before = [await row(active.delegation_id), await row(pending.delegation_id)]
    for (const status of [500, 429]) {
      const answer = { status, headers: { 'retry-after': '3600' }, body: { error: 'internal_error', message: '' } }
      stack.proxy.always(/metadata/, { answer })
      await expect(check(active.delegation_id)).rejects.toThrow()
      await expect(check(pending.delegation_id)).rejects.toThrow()
      expect([await row(active.delegation_id), await row(pending.delegation_id)]).toEqual(before)
      stack.proxy.behave()
    }
    await stack.runJobs()
    expect((await row(pending.delegation_id)).state).toBe('active')
  })

  it('AGENT-04 is not checked without a subscription, and is checked again with a new one', async () => {
    const locker = await stack.seedLocker(owner)
    const { delegation_id: id, agent_pubkey } = await stack.delegate(owner, locker)
    await stack.client(owner).addOperator(locker, agent_pubkey)
    stack.clock.advance(30 * 86_400)
    await stack.runJobs()
    expect([countChecks(locker.locker_id), (await stack.readDelegation(owner, id)).status]).toEqual([0, 'paused'])
    await stack.grantSubscription(owner)
    stack.clock.advance(60)
    await stack.runJobs()
    expect((await stack.readDelegation(owner, id)).status).toBe('active')
  })

  it('AGENT-04 T-10 is checked at most ten times a minute per owner', async () => {
    const other = await stack.grantSubscription(ed25519Wallet())
    const ids: string[] = []
    for (let i = 0; i < 12; i++) ids.push((await stack.delegate(owner, await stack.seedLocker(owner))).delegation_id)
    const before = countChecks()
    for (const id of ids) await check(id)
    expect(countChecks() - before).toBe(10)
    expect([(await row(ids[9]!)).checks, (await row(ids[10]!)).checks]).toEqual([1, 0])
    expect((await row(ids[10]!)).check_at).toBe(seconds() + 15)
    await check((await stack.delegate(other, await stack.seedLocker(other))).delegation_id)
    expect(countChecks() - before).toBe(11)
    stack.clock.advance(15)
    await check(ids[10]!)
    expect((await row(ids[10]!)).checks).toBe(1)
  })
})
