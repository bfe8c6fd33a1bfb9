import type { Locker } from '@svc/sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { delegationsOf } from '../../src/delegations/store.ts'
import { type Agency, delegateCall, ed25519Person, expectRefusal, openAgency, type Person } from '../agency.ts'

describe('a gateway that does not say whose locker it is', () => {
  let agency: Agency
  let owner: Person
  let locker: Locker
  beforeAll(async () => {
    agency = await openAgency()
  })
  afterAll(() => agency.close())
  beforeEach(async () => {
    owner = await agency.grant(ed25519Person())
    locker = await agency.locker(owner)
  })

  const ask = () => agency.call(owner, delegateCall(locker))
  async function expectNothingDone(reply: Awaited<ReturnType<typeof ask>>): Promise<void> {
    expectRefusal(reply, 503, 'gateway_unavailable')
    expect(reply.headers.get('retry-after')).toBe('5')
    expect(await delegationsOf(agency.agent.context.database.db, owner.identity, 1)).toEqual([])
    agency.between.behave()
    expect((await ask()).status).toBe(200)
  }

  it.each([
    ['fails', 500, 'internal_error'],
    ['wants to be left alone', 503, 'STORAGE_UNAVAILABLE'],
    ['has had enough of us', 429, 'RATE_LIMITED'],
    ['is another service', 404, 'not_found'],
  ])('AGENT-04 is told of when it %s, and nothing is done', async (_, status, error) => {
    const answer = { status, headers: { 'retry-after': '3600' }, body: { error, message: 'no' } }
    agency.between.always(/receipts/, { answer })
    await expectNothingDone(await ask())
  })

  it('AGENT-04 is told of when it does not answer, after a few attempts', async () => {
    agency.between.always(/receipts/, { cut: 'request' })
    await expectNothingDone(await ask())
  })

  it('AGENT-04 is not believed when it names another payer', async () => {
    const thief = await agency.grant(ed25519Person())
    agency.between.always(/receipts/, { lie: (body) => ({ ...body, payer_pubkey: thief.identity }) })
    expectRefusal(await agency.call(thief, delegateCall(locker)), 503, 'gateway_unavailable')
    expect(await delegationsOf(agency.agent.context.database.db, thief.identity, 1)).toEqual([])
    await expectNothingDone(await ask())
  })

  it('AGENT-04 is not believed when it shows another receipt', async () => {
    const thief = await agency.grant(ed25519Person())
    const { receipt_id } = await agency.receipt(thief)
    const other = await (await fetch(`${agency.gateway.url}/v1/receipts/${receipt_id}`)).json()
    agency.between.always(/receipts/, { lie: () => other })
    expectRefusal(await agency.call(thief, delegateCall(locker)), 503, 'gateway_unavailable')
    await expectNothingDone(await ask())
  })
})
