import * as endpoints from '@svc/api/agent/payment'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { createAgentClient, memoryJournal, type Signer } from '@svc/sdk'
import { evmKeyWallet, primaryKeyWallet } from '@svc/sdk/gateway-wallets'
import { describe, expect, it } from 'vitest'
import { useAgentStack } from '../agent-stack.ts'
import { evmPayer, primaryPayer } from '../wallets.ts'

const stack = useAgentStack()

const clientOf = (signer: Signer) =>
  createAgentClient(
    { baseUrl: stack.agent.url, signer, journal: memoryJournal(), onWarning: () => {} },
    { now: stack.clock.now },
  )
const nodeOf = (signer: Signer) => ({ client: clientOf(signer), endpoints, isLocal: true })

describe('subscription payments from a page', () => {
  it('ADD-24 a wallet without a node pays the displayed quote, on either chain', async () => {
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

  it('ADD-09 the service answers pages of other origins, without credentials', async () => {
    const preflight = await fetch(`${stack.agent.url}/v1/delegate`, { method: 'OPTIONS' })
    const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(', ')
    expect(allowed).toEqual(expect.arrayContaining(['content-type', 'x402-tx', 'x-svc-identity']))
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull()
    const answer = await fetch(`${stack.agent.url}/.well-known/svc-agent.json`)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  })
})
