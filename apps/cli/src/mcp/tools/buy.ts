import type { Provider } from '@svc/api/providers'
import { requestStorage } from '@svc/api/purchases'
import { type Approve, payableLeg } from '@svc/sdk'
import Type from 'typebox'
import { intentOf } from '../money/intent.ts'
import { PAID, paidData, paidText } from '../money/paid.ts'
import { payWithin, requireWallet } from '../money/pay-within.ts'
import { buyForClient, Offer, PAYMENT } from './buy-for-client.ts'
import { Asset, Intent, STRICT, tickerOf, tool } from './tool.ts'

const { units, provider } = requestStorage.body.properties

const Bought = Type.Object({
  intent: Type.Union([Type.String(), Type.Null()], { description: 'Repeat it to refer to this purchase.' }),
  locker_id: Type.Union([Type.String(), Type.Null()], { description: 'Null: the payer must still open it.' }),
  ...PAID,
})

export const buy = tool({
  name: 'buy',
  title: 'Buy a locker',
  description:
    'Buys storage: pays on chain with the wallet of this server, within its limits, and opens the locker. ' +
    'SPENDS REAL MONEY, but one intent is paid once: same purchase = same `intent` text. After an error, a timeout ' +
    'or any doubt, call again with the SAME arguments: it continues where it stopped and pays nothing twice. ' +
    'Do not invent a new intent to retry. By default `intent` is derived from wallet, units, provider and day, so a ' +
    'repeated call on one day is the same purchase; give your own only to buy another locker. ' +
    'If the server has no wallet, the answer is an x402 offer, and nothing is paid.',
  // A repeated call changes nothing, but a payment cannot be undone.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  input: Type.Object(
    {
      units,
      provider,
      asset: Asset,
      intent: Intent('backup of project x, May'),
    },
    STRICT,
  ),
  output: Type.Object({}, { anyOf: [Bought, Offer] }),

  async run(context, input, call) {
    const { owner } = context
    // A payment sent by the client takes precedence over our wallet.
    if (!owner || PAYMENT in call.meta) return buyForClient(context, input, call)
    const wallet = requireWallet(owner)
    const { units, provider } = input
    const asset = tickerOf(input.asset)
    const { client, settings } = context
    const seller = settings.gateway
    const intent = await intentOf(context, { seller, goods: goodsText(input), intent: input.intent }, wallet.address)
    const order = { units, ...(provider && { provider }) }
    const { signal } = call
    const price = async () => payableLeg(await client.quote(order, { signal }), wallet, asset).leg
    const pay = (approve: Approve) => client.buy({ ...order, asset, intent, wallet, approve, signal })
    const { bought, isNew } = await payWithin(context, owner, { seller, intent, price, pay }, call)
    const { receipt, receipt_id, locker_id } = bought
    const where = `Receipt ${receipt_id}, locker ${locker_id}. Intent: ${JSON.stringify(intent)}.`
    return {
      text: `${paidText(receipt, isNew)} ${where}`,
      data: { intent, locker_id, ...paidData(receipt, isNew) },
    }
  },
})

function goodsText({ units, provider }: { units: number; provider?: Provider }): string {
  return `${units} unit${units === 1 ? '' : 's'} ${provider ?? 'any provider'}`
}
