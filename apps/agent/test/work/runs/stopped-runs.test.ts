import { writable } from '@svc/devnet/writable'
import { describe, expect, it } from 'vitest'
import { type TestDelegation, useWorkStack } from '../work-stack.ts'

const stack = useWorkStack()

/** A delegation whose watch is interrupted after it has listed the files; it would then find a lost file. */
async function delegateInterrupted(
  interruption: (delegation: TestDelegation) => Promise<unknown>,
): Promise<TestDelegation> {
  const delegation = await stack.addDelegation()
  await delegation.put('file', 'bytes')
  await stack.nextMinute()
  await delegation.put('new', 'bytes')
  await stack.deleteStored(delegation, 'file')
  stack.duringNextWatch(() => interruption(delegation))
  await stack.nextDay()
  return delegation
}

async function expectStopped(delegation: TestDelegation, reason: string): Promise<void> {
  const [last] = await delegation.runs()
  expect(last).toMatchObject({ outcome: 'stopped', finished_at: stack.clock.seconds() })
  expect(JSON.parse(last!.summary)).toMatchObject({ files: 2, reason })
  expect((await delegation.log()).map(({ kind }) => kind)).toEqual(['baseline', 'file_new'])
}

/** Ends the subscription now. */
async function endSubscription({ owner: { identity } }: TestDelegation): Promise<void> {
  const expires_at = stack.clock.seconds()
  const subscriptions = writable(stack.context.database.db).updateTable('subscriptions').set({ expires_at })
  await subscriptions.where('identity', '=', identity).execute()
}

const readDelegation = ({ owner, id }: TestDelegation) => stack.readDelegation(owner, id)
const bytesRead = () => stack.proxy.seen.filter(({ path }) => path.startsWith('/f/')).length

describe('a run in progress', () => {
  it('AGENT-04 stops when the subscription expires, and the task continues with a new subscription', async () => {
    const delegation = await delegateInterrupted(endSubscription)
    await expectStopped(delegation, 'subscription_expired')
    expect(await readDelegation(delegation)).toMatchObject({ status: 'paused', findings: 2, next_runs: {} })
    const read = bytesRead()
    await stack.nextMinute()
    await stack.nextMinute()
    expect([bytesRead(), (await delegation.runs()).length]).toEqual([read, 2])

    await stack.grantSubscription(delegation.owner)
    await stack.nextMinute()
    expect(await delegation.outcomes()).toEqual(['done', 'stopped', 'done'])
    expect((await delegation.log()).map(({ kind }) => kind)).toEqual(['baseline', 'file_new', 'bytes_missing'])
    expect((await readDelegation(delegation)).status).toBe('active')
  })

  it('AGENT-04 stops when the owner ends the delegation', async () => {
    const delegation = await delegateInterrupted(({ owner, id }) => stack.endDelegation(owner, id))
    await expectStopped(delegation, 'delegation_ended')
    expect(await readDelegation(delegation)).toMatchObject({ status: 'ended', findings: 2 })
    await stack.nextDay()
    expect(await delegation.runs()).toHaveLength(2)
  })

  it('AGENT-04 stops when the owner removes the key at the gateway, which permanently revokes the delegation', async () => {
    const delegation = await delegateInterrupted(({ client, locker, agentPubkey }) =>
      client.removeOperator(locker, agentPubkey),
    )
    await expectStopped(delegation, 'delegation_revoked')
    expect((await readDelegation(delegation)).status).toBe('revoked')
    await delegation.client.addOperator(delegation.locker, delegation.agentPubkey)
    await stack.nextDay()
    expect([(await readDelegation(delegation)).status, (await delegation.runs()).length]).toEqual(['revoked', 2])
  })

  it('AGENT-04 stops when the owner removes the task', async () => {
    const sources = [{ url: 'https://files.example.test/a', filename: 'a' }]
    const delegation = await delegateInterrupted(({ owner, locker }) =>
      stack.delegate(owner, locker, { mirror: { sources, every_hours: 720 } }),
    )
    const watches = (await delegation.runs()).filter(({ task }) => task === 'watch')
    expect(watches.map(({ outcome }) => outcome)).toEqual(['stopped', 'done'])
    expect(JSON.parse(watches[0]!.summary)).toMatchObject({ reason: 'task_removed' })
    expect((await readDelegation(delegation)).next_runs).not.toHaveProperty('watch')
  })
})

describe('a new run', () => {
  it('AGENT-04 does not start without a subscription or a registered key', async () => {
    const unpaid = await stack.addDelegation()
    const removed = await stack.addDelegation()
    const owner = await stack.grantSubscription(unpaid.owner)
    const { delegation_id: pending } = await stack.delegate(owner, await stack.seedLocker(owner))
    await removed.client.removeOperator(removed.locker, removed.agentPubkey)
    await endSubscription(unpaid)
    await stack.nextDay()
    const { db } = stack.context.database
    expect(await unpaid.runs()).toEqual([])
    expect(await db.selectFrom('runs').selectAll().where('delegation_id', '=', pending).execute()).toEqual([])
    // Only the gateway's response reveals it.
    expect(await removed.outcomes()).toEqual(['stopped'])
    expect((await readDelegation(removed)).status).toBe('revoked')
    expect(await removed.log()).toEqual([])
  })
})
