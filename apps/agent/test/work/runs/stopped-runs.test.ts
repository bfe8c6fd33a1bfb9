import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openWorkshop, type Place, type Workshop } from '../work-stack.ts'

let workshop: Workshop
beforeAll(async () => {
  workshop = await openWorkshop()
})
afterAll(() => workshop.close())
afterEach(() => workshop.leaveAll())

/** A place whose watch is to be interrupted when it has listed the files: what it would still find is a lost file. */
async function interruptedPlace(interruption: (place: Place) => Promise<unknown>): Promise<Place> {
  const place = await workshop.place()
  await place.put('file', 'bytes')
  await workshop.soon()
  await place.put('new', 'bytes')
  await workshop.lose(place, 'file')
  workshop.meanwhile(() => interruption(place))
  await workshop.nextDay()
  return place
}

async function expectStopped(place: Place, reason: string): Promise<void> {
  const [last] = await place.runs()
  expect(last).toMatchObject({ outcome: 'stopped', finished_at: Math.floor(workshop.clock.now() / 1000) })
  expect(JSON.parse(last!.summary)).toMatchObject({ files: 2, reason })
  expect((await place.log()).map(({ kind }) => kind)).toEqual(['baseline', 'file_new'])
}

/** As of this moment. */
async function endSubscription({ owner: { identity } }: Place): Promise<void> {
  const expires_at = Math.floor(workshop.clock.now() / 1000)
  const subscriptions = workshop.context.database.db.updateTable('subscriptions').set({ expires_at })
  await subscriptions.where('identity', '=', identity).execute()
}

const shown = ({ owner, delegationId }: Place) => workshop.read(owner, delegationId)
const bytesRead = () => workshop.between.seen.filter(({ path }) => path.startsWith('/f/')).length

describe('a run is stopped in the middle, and its log stays,', () => {
  it('AGENT-04 when the subscription ends; it is taken up again when there is another', async () => {
    const place = await interruptedPlace(endSubscription)
    await expectStopped(place, 'subscription_expired')
    expect(await shown(place)).toMatchObject({ status: 'paused', findings: 2, next_runs: {} })
    const read = bytesRead()
    await workshop.soon()
    await workshop.soon()
    expect([bytesRead(), (await place.runs()).length]).toEqual([read, 2])

    await workshop.grant(place.owner)
    await workshop.soon()
    expect((await place.runs()).map(({ outcome }) => outcome)).toEqual(['done', 'stopped', 'done'])
    expect((await place.log()).map(({ kind }) => kind)).toEqual(['baseline', 'file_new', 'bytes_missing'])
    expect((await shown(place)).status).toBe('active')
  })

  it('AGENT-04 when the owner ends the delegation', async () => {
    const place = await interruptedPlace(({ owner, delegationId }) =>
      workshop.call(owner, { method: 'DELETE', path: `/v1/delegations/${delegationId}`, ops: ['locker:admin'] }),
    )
    await expectStopped(place, 'delegation_ended')
    expect(await shown(place)).toMatchObject({ status: 'ended', findings: 2 })
    await workshop.nextDay()
    expect(await place.runs()).toHaveLength(2)
  })

  it('AGENT-04 when the owner removes the key at the gateway: the delegation is revoked for good', async () => {
    const place = await interruptedPlace(({ client, locker, agentPubkey }) =>
      client.removeOperator(locker, agentPubkey),
    )
    await expectStopped(place, 'delegation_revoked')
    expect((await shown(place)).status).toBe('revoked')
    await place.client.addOperator(place.locker, place.agentPubkey)
    await workshop.nextDay()
    expect([(await shown(place)).status, (await place.runs()).length]).toEqual(['revoked', 2])
  })

  it('AGENT-04 when the owner does not want the task any more', async () => {
    const sources = [{ url: 'https://files.example.test/a', filename: 'a' }]
    const place = await interruptedPlace(({ owner, locker }) =>
      workshop.delegate(owner, locker, { mirror: { sources, every_hours: 720 } }),
    )
    const watches = (await place.runs()).filter(({ task }) => task === 'watch')
    expect(watches.map(({ outcome }) => outcome)).toEqual(['stopped', 'done'])
    expect(JSON.parse(watches[0]!.summary)).toMatchObject({ reason: 'task_removed' })
    expect((await shown(place)).next_runs).not.toHaveProperty('watch')
  })
})

describe('a run is not begun', () => {
  it('AGENT-04 without a subscription, nor before the key is registered, nor after it was removed', async () => {
    const unpaid = await workshop.place()
    const removed = await workshop.place()
    const owner = await workshop.grant(unpaid.owner)
    const { delegation_id: pending } = await workshop.delegate(owner, await workshop.locker(owner))
    await removed.client.removeOperator(removed.locker, removed.agentPubkey)
    await endSubscription(unpaid)
    await workshop.nextDay()
    const { db } = workshop.context.database
    expect(await unpaid.runs()).toEqual([])
    expect(await db.selectFrom('runs').selectAll().where('delegation_id', '=', pending).execute()).toEqual([])
    // Only by the answer of the gateway is it known.
    expect((await removed.runs()).map(({ outcome }) => outcome)).toEqual(['stopped'])
    expect((await shown(removed)).status).toBe('revoked')
    expect(await removed.log()).toEqual([])
  })
})
