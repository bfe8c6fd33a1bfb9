import { type PaymentLeg, requestStorage } from '@svc/api/purchases'
import { PaymentError } from '@svc/sdk/errors'
import { payableLeg } from '@svc/sdk/purchases/quote'
import Type from 'typebox'
import type { Context, Owner } from '../context.ts'
import { Refusal } from '../failures.ts'
import { intentOf } from '../money/intent.ts'
import { readPurchase } from '../money/purchase-record.ts'
import { type Call, tool } from '../tool.ts'
import { STRICT } from './arguments.ts'
import { buyForClient, Offer, PAYMENT } from './buy-for-client.ts'

const { units, provider } = requestStorage.body.properties

const Bought = Type.Object({
  intent: Type.Union([Type.String(), Type.Null()], { description: 'Give it again to mean this purchase again.' }),
  new_payment: Type.Boolean({ description: 'Whether this call moved money. False: it was paid before.' }),
  receipt_id: Type.String({ description: 'What other tools take.' }),
  locker_id: Type.Union([Type.String(), Type.Null()], { description: 'Null: the payer has yet to open it.' }),
  paid: Type.Object({ amount: Type.String(), asset: Type.String(), network: Type.String() }),
  tx: Type.String(),
  payer: Type.String(),
})

export const buy = tool({
  name: 'buy',
  title: 'Buy a locker',
  description:
    'Buys storage: pays on chain with the wallet of this server, within its limits, and opens the locker. ' +
    'SPENDS REAL MONEY, but one intent is paid once: same purchase = same `intent` text. After an error, a time-out ' +
    'or any doubt, call again with the SAME arguments: it goes on where it stopped and pays nothing twice. ' +
    'Do not invent a new intent to retry. Without `intent` it follows from wallet, units, provider and day, so a ' +
    'repeated call on one day is the same purchase; give your own only to buy a further locker. ' +
    'If the server has no wallet, the answer is an x402 offer, and nothing is paid.',
  // Asking again does nothing more; but a payment cannot be taken back.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  input: Type.Object(
    {
      units,
      provider,
      asset: Type.Optional(Type.String({ maxLength: 16, description: 'Ticker to pay with; USDC unless told.' })),
      intent: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          pattern: '\\S',
          description: 'Name of the purchase, for example "backup of project x, May". The same text never pays twice.',
        }),
      ),
    },
    STRICT,
  ),
  output: Type.Object({}, { anyOf: [Bought, Offer] }),

  async run(context, input, call) {
    const { owner } = context
    // A client that brings a payment wants that one to be used.
    if (!owner || PAYMENT in call.meta) return buyForClient(context, input, call)
    const wallet = requireWallet(owner)
    const { units, provider, asset = 'USDC' } = input
    const intent = await intentOf(context, input, wallet.address)
    const order = { intent, units, ...(provider && { provider }), asset, wallet }
    return owner.inTurn(intent, async () => {
      if (!(await readPurchase(context, intent))) await consider(context, owner, order, call)
      return pay(context, owner, order, call)
    })
  },
})

type Order = Omit<Parameters<Context['client']['buy']>[0], 'approve'>

/** What is refused before it begins leaves its intent free for another order. */
async function consider({ client }: Context, { spending }: Owner, order: Order, { progress, signal }: Call) {
  const { intent, units, provider, asset, wallet } = order
  progress(0, 2, 'asking for a quote')
  const quote = await client.quote({ units, ...(provider && { provider }) }, { signal })
  await spending.consider(intent, payableLeg(quote, wallet, asset).leg)
}

async function pay({ client }: Context, { spending }: Owner, order: Order, { progress, signal }: Call) {
  const { intent } = order
  let isNew = false
  const approve = async (leg: PaymentLeg) => {
    await spending.count(intent, leg)
    isNew = true
    progress(1, 2, 'paying')
    return true
  }
  try {
    const bought = await client.buy({ ...order, approve, signal })
    return { text: boughtText(intent, isNew, bought), data: dataOf(intent, isNew, bought) }
  } catch (error) {
    if (isNew && error instanceof PaymentError && error.money === 'not_moved') await spending.takeBack(intent)
    throw error
  }
}

type Purchased = Awaited<ReturnType<Context['client']['buy']>>

function requireWallet({ wallet, signer }: Owner) {
  if (wallet) return wallet
  const chain = signer.address.startsWith('0x') ? 'SVC_EVM_RPC' : 'SVC_PRIMARY_RPC'
  throw new Refusal('no_node', 'this server knows no node of the chain its key pays on', `It needs ${chain}`)
}

function dataOf(intent: string, isNew: boolean, { receipt, receipt_id, locker_id }: Purchased) {
  const { paid_amount: amount, pay_asset: asset, network, tx_hash: tx, payer_pubkey: payer } = receipt
  return { intent, new_payment: isNew, receipt_id, locker_id, paid: { amount, asset, network }, tx, payer }
}

function boughtText(intent: string, isNew: boolean, { receipt, receipt_id, locker_id }: Purchased): string {
  const { paid_amount, pay_asset, tx_hash } = receipt
  const what = isNew
    ? `Paid ${paid_amount} ${pay_asset} (${tx_hash}).`
    : `Already paid: no new payment was made. The payment was ${paid_amount} ${pay_asset} (${tx_hash}).`
  return `${what} Receipt ${receipt_id}, locker ${locker_id}. Intent: ${JSON.stringify(intent)}.`
}
