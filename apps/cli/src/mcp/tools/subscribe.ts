import { SUBSCRIPTION_DAYS } from '@svc/api/agent/subscriptions'
import { type Approve, payableLeg } from '@svc/sdk'
import Type from 'typebox'
import { requireAgent, requireOwner } from '../context.ts'
import { intentOf } from '../money/intent.ts'
import { PAID, paidData, paidText } from '../money/paid.ts'
import { payWithin, requireWallet } from '../money/pay-within.ts'
import { Asset, Intent, STRICT, tickerOf, tool } from './tool.ts'

const GOODS = `${SUBSCRIPTION_DAYS} days of the agent service`

export const subscribe = tool({
  name: 'subscribe',
  title: 'Buy thirty days of the agent service',
  description:
    'Buys thirty days of the agent service, which looks after lockers. Call `agent_status` first: it shows the price ' +
    'and what is already paid. By default `intent` is derived from wallet and day; another one buys thirty more days. ' +
    'The price of $5 is above the default limit of $1: the user must first raise SVC_MCP_MAX_USD, and ' +
    'SVC_MCP_MAX_USD_PER_DAY to the price and the fee of the network.',
  pays: true,
  // A repeated call changes nothing, but a payment cannot be undone.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: Type.Object({ asset: Asset, intent: Intent('agent service, May') }, STRICT),
  output: Type.Object({
    intent: Type.String({ description: 'Repeat it to refer to this purchase.' }),
    expires_at: Type.String({ description: 'The end of the subscription after this purchase.' }),
    ...PAID,
  }),

  async run(context, input, call) {
    const owner = requireOwner(context)
    const { agent, seller } = requireAgent(context)
    const wallet = requireWallet(owner)
    const asset = tickerOf(input.asset)
    const { signal } = call
    const intent = await intentOf(context, { seller, goods: GOODS, intent: input.intent }, wallet.address)
    const price = async () => payableLeg(await agent.quote(signal), wallet, asset).leg
    const pay = (approve: Approve) => agent.subscribe({ intent, wallet, asset, approve, signal })
    const { bought, isNew } = await payWithin(context, owner, { seller, intent, price, pay }, call)
    const { receipt, subscription } = bought
    const { expires_at } = subscription
    return {
      text: `${paidText(receipt, isNew)} Subscribed until ${expires_at}. Intent: ${JSON.stringify(intent)}.`,
      data: { intent, expires_at, ...paidData(receipt, isNew) },
    }
  },
})
