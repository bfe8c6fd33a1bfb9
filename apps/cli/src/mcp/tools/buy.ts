import type { Provider } from '@svc/api/providers'
import { requestStorage } from '@svc/api/purchases'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { type Approve, lockerOf, namedTags, nameObjection, payableLeg } from '@svc/sdk'
import Type from 'typebox'
import { phonePurchase } from '../../purchases/phone-purchase.ts'
import { knownLockers, named as namedLockers, rememberLocker } from '../../setup/known-lockers.ts'
import type { Context } from '../context.ts'
import { Refusal } from '../errors.ts'
import { intentOf, readPurchase } from '../money/intent.ts'
import { PAID, paidData, paidText } from '../money/paid.ts'
import { payWithin, requireWallet } from '../money/pay-within.ts'
import { buyForClient, Offer, PAYMENT } from './buy-for-client.ts'
import { ProviderChoice } from './provider.ts'
import { Asset, Intent, STRICT, tickerOf, tool } from './tool.ts'

const { units } = requestStorage.body.properties

const Bought = Type.Object({
  intent: Type.Union([Type.String(), Type.Null()], { description: 'Repeat it to refer to this purchase.' }),
  locker_id: Type.Union([Type.String(), Type.Null()], { description: 'Null: the payer must still open it.' }),
  ...PAID,
})

export const buy = tool({
  name: 'buy',
  title: 'Buy a locker',
  description:
    'Buys storage and opens the locker. By default `intent` is derived from wallet, units, provider and day: give your ' +
    'own only to buy another locker. If the server has no wallet, the answer is an x402 offer, and nothing is paid.',
  pays: true,
  // A repeated call changes nothing, but a payment cannot be undone.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: Type.Object(
    {
      units,
      provider: ProviderChoice,
      asset: Asset,
      name: Type.Optional(
        Type.String({ description: 'Names the locker, as in `svc`; the `intent` too, unless you give one.' }),
      ),
      intent: Intent('backup of project x, May'),
    },
    STRICT,
  ),
  output: Type.Object({}, { anyOf: [Bought, Offer] }),

  async run(context, input, call) {
    const { owner } = context
    const { name } = input
    if (name !== undefined) requireName(name)
    // A payment sent by the client takes precedence over our wallet.
    if (!owner || PAYMENT in call.meta) {
      if (name === undefined) return buyForClient(context, input, call)
      throw new Refusal('bad_arguments', 'name: only a locker of the wallet of this server can be named')
    }
    const wallet = requireWallet(owner)
    const { units, provider } = input
    const asset = tickerOf(input.asset)
    const { client, settings } = context
    const seller = settings.gateway
    const named = { seller, goods: goodsText(input), intent: input.intent ?? name }
    const intent = await intentOf(context, named, wallet.address)
    if (name !== undefined) await requireFreeName(context, name, intent)
    const order = { units, ...(provider && { provider }) }
    const { signal } = call
    const price = async () => payableLeg(await client.quote(order, { signal }), wallet, asset).leg
    const naming = name !== undefined && {
      tags: namedTags([], name) ?? [],
      onReceipt: ({ receipt_id }: SignedReceipt) => remember(context, receipt_id, { owner: wallet.address, name }),
    }
    const pay = (approve: Approve) => client.buy({ ...order, ...naming, asset, intent, wallet, approve, signal })
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

/** A name is checked before the payment, because the gateway refuses a bad one only afterwards. */
function requireName(name: string): void {
  const objection = nameObjection(name)
  if (objection !== null) throw new Refusal('bad_arguments', `name: ${objection}. Nothing was paid`)
}

/** A name is paid once. A purchase that this intent has begun continues. */
async function requireFreeName(context: Context, name: string, intent: string): Promise<void> {
  const { settings, journal } = context
  const { gateway, stateFolder } = settings
  if (await phonePurchase(journal, gateway, name).read())
    throw nameTaken(`${JSON.stringify(name)} was started with a phone, which may have paid it`)
  const known = namedLockers(await knownLockers(stateFolder, () => null), gateway)
  const locker = known.find((one) => one.name === name)
  if (locker && !(await readPurchase(context, gateway, intent)))
    throw nameTaken(`the locker ${JSON.stringify(name)} already exists: ${locker.receipt_id}`)
}

function nameTaken(why: string): Refusal {
  return new Refusal('name_taken', `${why}. Nothing was paid`)
}

async function remember({ settings, now }: Context, receiptId: string, of: { owner: string; name: string }) {
  const added_at = new Date(now()).toISOString()
  await rememberLocker(settings.stateFolder, { ...lockerOf(receiptId), gateway: settings.gateway, ...of, added_at })
}
