import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Agency, ed25519Person, openAgency, primaryPayer } from '../agent-stack.ts'
import { expectError, pay, type Till, tillOf } from '../subscription-api.ts'

let agency: Agency
let till: Till
beforeAll(async () => {
  agency = await openAgency()
  till = tillOf(agency.agent)
})
afterAll(() => agency.close())

describe('AMB-06 a payment that was made in time', () => {
  const HOUR = 3600

  it('may be confirmed a day later, and the thirty days begin then', async () => {
    const payer = primaryPayer(2)
    const quote = await till.quote()
    const tx = await pay(agency, quote.accepts[0]!, payer)
    agency.clock.advance(300 + 24 * HOUR)
    const { status, body } = await till.show({ quote, tx, identity: payer.identity })
    expect(status).toBe(200)
    expect(Date.parse(body.subscription.starts_at)).toBe(agency.clock.now())
  })

  it('is too late after that', async () => {
    const payer = primaryPayer(2)
    const quote = await till.quote()
    const tx = await pay(agency, quote.accepts[0]!, payer)
    agency.clock.advance(300 + 24 * HOUR + 1)
    expectError(await till.show({ quote, tx, identity: payer.identity }), 410, 'quote_expired')
  })

  it('is not one that was made later', async () => {
    const payer = primaryPayer(2)
    const quote = await till.quote()
    agency.clock.advance(301)
    const tx = await pay(agency, quote.accepts[0]!, payer)
    expectError(await till.show({ quote, tx, identity: payer.identity }), 410, 'quote_expired')
  })

  it('T-02 gives nobody else a claim, then as little as before', async () => {
    const payer = primaryPayer(2)
    const quote = await till.quote()
    const tx = await pay(agency, quote.accepts[0]!, payer)
    agency.clock.advance(HOUR)
    const { identity } = ed25519Person()
    expectError(await till.show({ quote, tx, identity }), 403, 'OWNER_IDENTITY_MISMATCH')
    expect((await till.show({ quote, tx, identity: payer.identity })).status).toBe(200)
  })
})
