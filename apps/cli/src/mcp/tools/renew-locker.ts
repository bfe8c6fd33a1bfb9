import { requestStorage } from '@svc/api/purchases'
import { type Approve, type Locker, lockerOf, payableLeg } from '@svc/sdk'
import { GatewayError } from '@svc/sdk/errors'
import Type from 'typebox'
import { type Context, requireOwner } from '../context.ts'
import { intentOf } from '../money/intent.ts'
import { PAID, paidData, paidText } from '../money/paid.ts'
import { payWithin, requireWallet } from '../money/pay-within.ts'
import { Asset, Intent, ReceiptId, STRICT, tickerOf, tool } from './tool.ts'

const { units } = requestStorage.body.properties

export const renewLocker = tool({
  name: 'renew_locker',
  title: 'Renew a locker',
  description:
    'Buys more time or space for a locker: the bought terms are added to what is left; receipt, links and statements ' +
    'stay. By default `intent` is derived from wallet, locker, units and day.',
  pays: true,
  // A repeated call changes nothing, but a payment cannot be undone.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: Type.Object(
    {
      receipt_id: ReceiptId,
      units: Type.Optional(
        Type.Integer({ ...units, description: 'By default as many as keep the size for a full term.' }),
      ),
      asset: Asset,
      intent: Intent('photos, second year'),
    },
    STRICT,
  ),
  output: Type.Object({
    intent: Type.String({ description: 'Repeat it to refer to this purchase.' }),
    locker_id: Type.String(),
    renewal_receipt_id: Type.String({ description: 'Proof of this payment. The locker keeps its own receipt.' }),
    ...PAID,
    receipt_id: Type.String({ description: 'The receipt of the locker, as given: the id to give to other tools.' }),
    expires_at: Type.Union([Type.String(), Type.Null()], {
      description: 'The end of the locker after this purchase; null if this wallet may not read the locker.',
    }),
  }),

  async run(context, input, call) {
    const owner = requireOwner(context)
    const wallet = requireWallet(owner)
    const { client, settings } = context
    const { receipt_id } = input
    const asset = tickerOf(input.asset)
    const { signal } = call
    const locker = lockerOf(receipt_id)
    const units = input.units ?? (await client.usage(locker, signal)).renewal_units
    const seller = settings.gateway
    const goods = `renewal of ${locker.locker_id}, ${units} unit${units === 1 ? '' : 's'}`
    const intent = await intentOf(context, { seller, goods, intent: input.intent }, wallet.address)
    const order = { units, extends: receipt_id }
    const price = async () => payableLeg(await client.quote(order, { signal }), wallet, asset).leg
    const pay = (approve: Approve) => client.renew(locker, { units, asset, intent, wallet, approve, signal })
    const { bought, isNew } = await payWithin(context, owner, { seller, intent, price, pay }, call)
    const { receipt } = bought
    const expires_at = await endOf(context, locker, signal)
    const until = expires_at === null ? 'renewed' : `paid until ${expires_at}`
    const what = `${locker.locker_id} is ${until}. Intent: ${JSON.stringify(intent)}.`
    return {
      text: `${paidText(receipt, isNew)} ${what}`,
      data: {
        ...paidData(receipt, isNew),
        intent,
        locker_id: locker.locker_id,
        receipt_id,
        renewal_receipt_id: receipt.receipt_id,
        expires_at,
      },
    }
  },
})

/** Null if this wallet may not read the locker: the renewal of someone else's locker is paid and complete anyway. */
async function endOf({ client }: Context, locker: Locker, signal: AbortSignal): Promise<string | null> {
  try {
    return (await client.usage(locker, signal)).expires_at
  } catch (error) {
    if (error instanceof GatewayError) return null
    throw error
  }
}
