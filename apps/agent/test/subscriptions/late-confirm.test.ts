import { describe, expect, it } from 'vitest'
import { useAgentStack } from '../agent-stack.ts'
import { expectError, pay, subscriptionApi } from '../subscription-api.ts'
import { ed25519Wallet, primaryPayer } from '../wallets.ts'

const stack = useAgentStack()
const api = subscriptionApi(() => stack.agent)

describe('AMB-06 a payment that was made in time', () => {
  const HOUR = 3600

  it('AMB-06 may be confirmed a day later, and the thirty days begin then', { tags: ['nightly'] }, async () => {
    const payer = primaryPayer(2)
    const quote = await api.quote()
    const tx = await pay(stack, quote.accepts[0]!, payer)
    stack.clock.advance(300 + 24 * HOUR)
    const { status, body } = await api.confirm({ quote, tx, identity: payer.identity })
    expect(status).toBe(200)
    expect(Date.parse(body.subscription.starts_at)).toBe(stack.clock.now())
  })

  it('AMB-06 is rejected as expired after that day', async () => {
    const payer = primaryPayer(2)
    const quote = await api.quote()
    const tx = await pay(stack, quote.accepts[0]!, payer)
    stack.clock.advance(300 + 24 * HOUR + 1)
    expectError(await api.confirm({ quote, tx, identity: payer.identity }), 410, 'quote_expired')
  })

  it('AMB-06 must have been made before the quote expired', async () => {
    const payer = primaryPayer(2)
    const quote = await api.quote()
    stack.clock.advance(301)
    const tx = await pay(stack, quote.accepts[0]!, payer)
    expectError(await api.confirm({ quote, tx, identity: payer.identity }), 410, 'quote_expired')
  })

  it('T-02 can be confirmed late only by its payer', async () => {
    const payer = primaryPayer(2)
    const quote = await api.quote()
    const tx = await pay(stack, quote.accepts[0]!, payer)
    stack.clock.advance(HOUR)
    const { identity } = ed25519Wallet()
    expectError(await api.confirm({ quote, tx, identity }), 403, 'OWNER_IDENTITY_MISMATCH')
    expect((await api.confirm({ quote, tx, identity: payer.identity })).status).toBe(200)
  })
})
