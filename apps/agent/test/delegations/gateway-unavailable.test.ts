import { forEachTest } from '@svc/devnet/for-tests'
import { describe, expect, it } from 'vitest'
import { delegationsOf } from '../../src/delegations/store.ts'
import { delegateCall, expectRefusal, useAgentStack } from '../agent-stack.ts'
import { ed25519Wallet } from '../wallets.ts'

describe('the endpoint for delegations without a trusted owner', () => {
  const stack = useAgentStack()
  const owner = forEachTest(() => stack.grantSubscription(ed25519Wallet()))
  const locker = forEachTest(() => stack.seedLocker(owner))

  const ask = () => stack.call(owner, delegateCall(locker))
  async function expectNoChange(reply: Awaited<ReturnType<typeof ask>>): Promise<void> {
    expectRefusal(reply, 503, 'gateway_unavailable')
    expect(reply.headers.get('retry-after')).toBe('5')
    expect(await delegationsOf(stack.agent.context.database.db, owner.identity, 1)).toEqual([])
    stack.proxy.behave()
    expect((await ask()).status).toBe(200)
  }

  it.each([
    ['fails', 500, 'internal_error'],
    ['is unavailable', 503, 'STORAGE_UNAVAILABLE'],
    ['limits the agent', 429, 'RATE_LIMITED'],
    ['is another service', 404, 'not_found'],
  ])('AGENT-04 answers 503 and changes nothing when the gateway %s', async (_, status, error) => {
    const answer = { status, headers: { 'retry-after': '3600' }, body: { error, message: 'no' } }
    stack.proxy.always(/receipts/, { answer })
    await expectNoChange(await ask())
  })

  it('AGENT-04 answers 503 after a few attempts when the gateway does not answer', async () => {
    stack.proxy.always(/receipts/, { cut: 'request' })
    await expectNoChange(await ask())
  })

  it('AGENT-04 does not trust a receipt whose payer was changed', async () => {
    const thief = await stack.grantSubscription(ed25519Wallet())
    stack.proxy.always(/receipts/, { lie: (body) => ({ ...body, payer_pubkey: thief.identity }) })
    expectRefusal(await stack.call(thief, delegateCall(locker)), 503, 'gateway_unavailable')
    expect(await delegationsOf(stack.agent.context.database.db, thief.identity, 1)).toEqual([])
    await expectNoChange(await ask())
  })

  it('AGENT-04 does not trust a receipt other than the requested one', async () => {
    const thief = await stack.grantSubscription(ed25519Wallet())
    const { receipt_id } = await stack.seedReceipt(thief)
    const other = await (await fetch(`${stack.gateway.url}/v1/receipts/${receipt_id}`)).json()
    stack.proxy.always(/receipts/, { lie: () => other })
    expectRefusal(await stack.call(thief, delegateCall(locker)), 503, 'gateway_unavailable')
    await expectNoChange(await ask())
  })
})
