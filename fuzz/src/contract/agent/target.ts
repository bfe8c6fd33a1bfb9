// An agent service beside the gateway, with a subscriber who has delegated a locker.

import type { DelegateAnswer } from '@svc/api/agent/delegations'
import * as endpoints from '@svc/api/agent/payment'
import type { SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { PaymentFacts } from '@svc/api/payment'
import type { PaymentLeg } from '@svc/api/quote'
import { watchChanges } from '@svc/devnet/change-log'
import { payLeg } from '@svc/devnet/pay-leg'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { startTestAgent } from '@svc/devnet/services/agent'
import { seedLocker } from '@svc/devnet/services/seed-lockers'
import { ed25519Identity } from '@svc/devnet/services/signing'
import { createAgentClient, memoryJournal, signerFromSeed } from '@svc/sdk'
import { primaryKeyWallet } from '@svc/sdk/gateway-wallets'
import { answerCheck } from '../answers.ts'
import { type Ask, askBy } from '../ask.ts'
import type { Given } from '../draft.ts'
import { openLine } from '../exchange.ts'
import { envelopeOf } from '../gateway/credentials.ts'
import type { GatewayFixture } from '../gateway/fixture.ts'
import { describedBy } from '../operation.ts'
import { preparedBy } from '../prepare.ts'
import type { ContractTarget } from '../run.ts'

const SEED = DEMO_PAYERS[1]?.privateKeyBytes as Uint8Array // there are four
const CHOICE = { pay_network: 'primary-mainnet', pay_asset: 'USDC' }

export async function agentTarget(fixture: GatewayFixture): Promise<ContractTarget> {
  const { chains, now, gateway } = fixture
  const variables = { ...chains.agentVariables, GATEWAY_URL: gateway.url, MAX_DELEGATIONS: '10000' }
  const agent = await startTestAgent(variables, { now, waitToRetry: async () => {} })
  fixture.defer(agent.stop)
  const line = openLine(agent.url)
  fixture.defer(async () => line.close())
  const description = await describedBy(agent.url)
  const ask = askBy(description.operations, line)
  const owner = ed25519Identity(SEED)
  const values = { 'X-Svc-Identity': owner.identity }
  const envelope = envelopeOf({ owner, lockerId: '', receiptId: '' }, now, { aud: agent.url })
  const payments = paymentRecipes(agent.url, ask, now)

  async function paid(): Promise<Given> {
    const { leg } = await payments.quoted()
    const body = { pay_req_id: leg.extra.pay_req_id, tx_sig: await payLeg(chains, leg, { payer: 1 }), ...CHOICE }
    return { headers: values, body }
  }

  async function delegable(): Promise<Given> {
    const { locker_id, receipt_id } = await seedLocker(gateway.context, { owner: owner.identity })
    const credential = envelopeOf({ owner, lockerId: locker_id, receiptId: receipt_id }, now)
    return { headers: values, body: { receipt_id, locker_id }, credential }
  }

  async function delegation(): Promise<Given> {
    const { delegation_id } = await ask<DelegateAnswer>('delegate', await delegable())
    return { path: { delegation_id } }
  }

  await ask('confirmSubscription', await paid())
  return {
    operations: description.operations,
    line,
    check: answerCheck(description),
    prepare: preparedBy({
      values,
      credentials: { envelope },
      recipes: {
        ...payments.recipes,
        agentErrorExplained: () => ({ path: { code: 'not_found' } }),
        confirmSubscription: paid,
        delegate: delegable,
        readDelegation: delegation,
        endDelegation: delegation,
      },
    }),
    changes: await watchChanges(agent.context.database),
    mayChange: {
      nonces: 'an envelope is used up, whatever its outcome',
      rate_limits: 'rejected requests count, too',
    },
    conditions: {},
    words: { pay_network: ['primary-mainnet', 'evm-mainnet'], pay_asset: ['SOL', 'USDC'], tasks: [{ watch: {} }, {}] },
    unreached: {},
  }
}

/** Payments from a page, on the primary chain. */
function paymentRecipes(baseUrl: string, ask: Ask, now: () => number) {
  const signer = signerFromSeed(SEED)
  const options = { baseUrl, signer, journal: memoryJournal(), onWarning: () => {} }
  const wallet = primaryKeyWallet({ client: createAgentClient(options, { now }), endpoints, isLocal: true }, signer)

  async function quoted() {
    const { accepts } = await ask<SubscriptionQuote>('requestSubscription', { query: CHOICE })
    const leg = accepts[0] as PaymentLeg // there is one for the requested asset
    const { network, asset, extra } = leg
    return { leg, body: { pay_req_id: extra.pay_req_id, network, asset, payer: signer.address } }
  }

  return {
    quoted,
    recipes: {
      prepareSubscriptionPayment: async () => ({ body: (await quoted()).body }),
      async sendSubscriptionPayment() {
        const { leg, body } = await quoted()
        return { body: { pay_req_id: body.pay_req_id, transaction: (await wallet.sign(leg)).raw } }
      },
      async subscriptionPaymentOutcome() {
        const { leg, body } = await quoted()
        const { solana } = await ask<PaymentFacts>('prepareSubscriptionPayment', { body })
        const life = { lastValidBlockHeight: solana?.last_valid_block_height, slot: solana?.slot }
        const { pay_req_id, payer } = body
        return { body: { pay_req_id, payer, tx: (await wallet.sign(leg)).tx, life } }
      },
      findSubscriptionPayment: async () => ({ body: { pay_req_id: (await quoted()).body.pay_req_id } }),
    },
  }
}
