import { networkNamed } from '@svc/api/networks'
import type { PaymentLeg } from '@svc/api/quote'
import type { NetworkFee } from '@svc/sdk'
import { amountText, atomicAmount, feeText, knownAsset } from '@svc/sdk/money'
import { Failure, UsageError } from '../errors.ts'
import { networkText } from '../output/networks.ts'
import { shown } from '../output/shown.ts'
import { pairs } from '../output/table.ts'
import type { Session } from '../session.ts'
import type { Key } from '../setup/wallet.ts'

/** Shows the payment and asks for approval. Throws if it exceeds the price limit. */
export async function approvePayment(
  { output, confirm, isYes }: Session,
  key: Key,
  { leg, fee, isLocal }: RequestedPayment,
  [goods, what]: readonly [goods: string, what: string],
  limit: PriceLimit,
): Promise<boolean> {
  requireWithin(leg, limit)
  if (isYes) requireUsualFee(leg, fee)
  const amount = shown(requestedAmount(leg))
  output.note(
    pairs([
      [goods, shown(what)],
      ['pay', amount],
      ['to', shown(leg.payTo)],
      ['on', networkText(leg.network, { isLocal })],
      ['from', `${key.address} (${key.from})`],
      ['fee', fee ? `${shown(feeText(fee))} to the network, on top` : 'the network fee, on top of it'],
    ]),
  )
  if (!(await confirm(`Pay ${amount}?`))) return false
  output.note('Paying and waiting for the chain…')
  return true
}

/** The node names the fee, and with --yes the user does not see it before it is paid. */
function requireUsualFee({ network: paidOn }: PaymentLeg, fee: NetworkFee | null): void {
  const network = fee && networkNamed(paidOn)
  const usual = network && atomicAmount(network.usualFee, fee.decimals)
  if (!usual || fee.amount <= usual) return
  throw new Failure(
    `the network fee is ${shown(feeText(fee))}, more than --yes pays`,
    'run the command without --yes to decide yourself',
  )
}

/** The payment that the wallet is asked for, and the network fee for it. */
interface RequestedPayment {
  leg: PaymentLeg
  fee: NetworkFee | null
  /** Whether the seller runs on local chains. */
  isLocal: boolean
}

export interface PriceLimit {
  asset?: string
  /** The most to pay, in whole units of the asset: `0.5`. */
  max?: string
}

/** An amount is meaningless without its asset. */
export function requireAsset({ asset, max }: PriceLimit): void {
  if (max !== undefined && asset === undefined)
    throw new UsageError('--max needs --asset', 'name the asset that the amount is in')
}

export function requireWithin(leg: PaymentLeg, { max }: PriceLimit): void {
  if (max === undefined || BigInt(leg.amount) <= (atomicAmount(max, leg.extra.decimals) ?? 0n)) return
  throw new Failure(`${shown(requestedAmount(leg))} is more than --max ${max}`)
}

/** The amount of a leg. The client has already rejected legs that use the name of a known asset for another token. */
export function requestedAmount(leg: PaymentLeg): string {
  const { asset, amount, extra } = leg
  const text = `${amountText(BigInt(amount), extra.decimals)} ${extra.name}`
  return knownAsset(leg) ? text : `${text} (the token ${asset})`
}
