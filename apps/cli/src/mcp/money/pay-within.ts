import type { PaymentLeg } from '@svc/api/quote'
import type { Approve, PurchaseRecord, SignedPayment, Wallet } from '@svc/sdk'
import { PaymentError } from '@svc/sdk/errors'
import { feeText } from '@svc/sdk/money'
import type { Context, Owner } from '../context.ts'
import { Refusal } from '../errors.ts'
import type { Call } from '../tools/tool.ts'
import { readPurchase } from './intent.ts'
import type { Purchase } from './spending.ts'

interface Payment<T> extends Purchase {
  /** Quotes the payment before the purchase begins. */
  price(): Promise<PaymentLeg>
  pay(approve: Approve): Promise<T>
}

interface Paid<T> {
  bought: T
  /** Whether this call made the payment. */
  isNew: boolean
}

/** Pays once for a purchase, or resumes it, within the spending limits. */
export function payWithin<T>(context: Context, owner: Owner, payment: Payment<T>, call: Call): Promise<Paid<T>> {
  const { seller, intent } = payment
  return owner.lock(`${seller} ${intent}`, async () => {
    call.signal.throwIfAborted()
    const record = await readPurchase(context, seller, intent)
    if (!record) {
      call.progress(0, 2, 'asking for a quote')
      // A purchase that the limits refuse here leaves its intent free for another order.
      await owner.spending.check({ seller, intent }, await payment.price())
    }
    // A purchase that restarts under its name loses the record of its payments.
    const signed = async () => [...paymentsIn(record), ...paymentsIn(await readPurchase(context, seller, intent))]
    return paid(owner, { ...payment, signed }, call)
  })
}

function paymentsIn(record: PurchaseRecord | null): SignedPayment[] {
  return record?.attempts.map(({ payment }) => payment) ?? []
}

interface RecordedPayment<T> extends Payment<T> {
  /** The payments of the purchase that were signed so far; a payment can occur twice. */
  signed(): Promise<SignedPayment[]>
}

async function paid<T>(
  { spending }: Owner,
  { seller, intent, pay, signed }: RecordedPayment<T>,
  { progress }: Call,
): Promise<Paid<T>> {
  let isNew = false
  const approve: Approve = async (leg, fee, replaced) => {
    await spending.count({ seller, intent }, { leg, fee, replaced, signed: await signed() })
    isNew = true
    const { human_amount, name } = leg.extra
    progress(1, 2, `paying ${human_amount} ${name}${fee ? ` and ${feeText(fee)} for the network` : ''}`)
    return true
  }
  try {
    return { bought: await pay(approve), isNew }
  } catch (error) {
    if (!(error instanceof PaymentError) || error.money !== 'not_moved') throw error
    if (isNew) await spending.uncount({ seller, intent }, await signed())
    // The network fee, which is known last, makes the payment exceed a limit.
    throw error.cause instanceof Refusal ? error.cause : error
  }
}

export function requireWallet({ wallet, signer }: Owner): Wallet {
  if (wallet) return wallet
  const chain = signer.address.startsWith('0x') ? 'SVC_EVM_RPC' : 'SVC_PRIMARY_RPC'
  throw new Refusal('no_node', 'this server knows no node of the chain its key pays on', `It needs ${chain}`)
}
