import * as endpoints from '@svc/api/agent/payment'
import type { SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { PaymentFacts } from '@svc/api/payment'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { createAgentClient, memoryJournal, type Signer } from '@svc/sdk'
import { evmKeyWallet, primaryKeyWallet, primaryWallet } from '@svc/sdk/gateway-wallets'
import { describe, expect, it } from 'vitest'
import { expectRefusal, useAgentStack } from '../agent-stack.ts'
import { evmPayer, primaryPayer } from '../wallets.ts'

const stack = useAgentStack()

const clientOf = (signer: Signer) =>
  createAgentClient(
    { baseUrl: stack.agent.url, signer, journal: memoryJournal(), onWarning: () => {} },
    { now: stack.clock.now },
  )
const nodeOf = (signer: Signer) => ({ client: clientOf(signer), endpoints, isLocal: true })

describe('paying a subscription from a page', () => {
  it('ADD-28 a wallet without a node pays the quote that it was shown, on either chain', async () => {
    const [primary, evm] = [primaryPayer(1), evmPayer(1)]
    const wallets = [
      [primary.signer, primaryKeyWallet(nodeOf(primary.signer), primary.signer)],
      [evm.signer, evmKeyWallet(nodeOf(evm.signer), DEV_PAYERS[1]!.privateKey, evm.identity)],
    ] as const
    for (const [signer, wallet] of wallets) {
      const client = clientOf(signer)
      const quote = await client.quote()
      const { receipt, subscription } = await client.subscribe({ intent: 'page', wallet, asset: 'USDC', quote })
      expect(receipt.pay_req_id).toBe(quote.extensions.svc.info.pay_req_id)
      expect(subscription).toMatchObject({ identity: signer.address, status: 'active' })
      // A paid quote is not prepared again.
      const leg = quote.accepts.find(({ network }) => network.startsWith(wallet.namespace))!
      await expect(wallet.fee!(leg)).rejects.toMatchObject({ code: 'payment_verification_failed' })
    }
  })

  it('ADD-28 T-66 tells about its own quotes only, and sends nothing but their payment', async () => {
    const { signer } = primaryPayer(2)
    const wallet = primaryKeyWallet(nodeOf(signer), signer)
    const [quote, other] = [await clientOf(signer).quote(), await clientOf(signer).quote()]
    const leg = quote.accepts.find(({ network }) => network.startsWith('solana:'))!
    const ask = <Body>(step: string, body: object) => stack.send<Body>('POST', `/v1/service/payment/${step}`, body)
    const { pay_req_id, ...rest } = { pay_req_id: leg.extra.pay_req_id, network: leg.network, asset: leg.asset }
    expect((await ask<PaymentFacts>('prepare', { pay_req_id, ...rest })).status).toBe(200)
    expectRefusal(await ask('prepare', { pay_req_id: 'pr_unknown', ...rest }), 404, 'pay_req_not_found')
    const { raw } = await wallet.sign(leg)
    const foreign = { pay_req_id: other.extensions.svc.info.pay_req_id, transaction: raw }
    expectRefusal(await ask('send', foreign), 402, 'payment_verification_failed')
    stack.clock.advance(2 * 3_600)
    expectRefusal(await ask('send', { pay_req_id, transaction: raw }), 410, 'quote_expired')
    expectRefusal(await ask('prepare', { pay_req_id, ...rest }), 410, 'quote_expired')
  })

  it('ADD-28 a quote that is shown and has no time left is not paid', async () => {
    const { signer } = primaryPayer(2)
    const client = clientOf(signer)
    const quote: SubscriptionQuote = await client.quote()
    stack.clock.advance(2 * 3_600)
    const wallet = primaryWallet(nodeOf(signer), signer.address, async () => {
      throw new Error('nothing may be signed')
    })
    await expect(client.subscribe({ intent: 'late', wallet, asset: 'USDC', quote })).rejects.toMatchObject({
      money: 'not_moved',
    })
  })

  it('ADD-09 answers pages of other origins, without credentials', async () => {
    const preflight = await fetch(`${stack.agent.url}/v1/delegate`, { method: 'OPTIONS' })
    const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(', ')
    expect(allowed).toEqual(expect.arrayContaining(['content-type', 'x402-tx', 'x-svc-identity']))
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull()
    const answer = await fetch(`${stack.agent.url}/.well-known/svc-agent.json`)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  })
})
