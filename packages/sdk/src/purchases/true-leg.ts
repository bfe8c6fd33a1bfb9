import type { PaymentLeg } from '@svc/api/quote'
import { UntrueAnswer } from '../errors.ts'
import { KNOWN_ASSETS, type KnownAsset, knownAsset } from '../wallets/known-assets.ts'
import { amountText } from '../wallets/objections.ts'

/** More than any asset has; without an end to it, writing an amount out could take for ever. */
const MAX_DECIMALS = 36

/** That what people are shown of a leg is what they would pay. */
export function requireTrueLeg(leg: PaymentLeg): void {
  const { asset, amount, extra } = leg
  const { name, decimals, human_amount } = extra
  const known = knownAsset(leg) ?? namesake(leg)
  if (known && (known !== knownAsset(leg) || known.ticker !== name || known.decimals !== decimals))
    throw new UntrueAnswer(`the quote calls ${asset} ${name}, with ${decimals} decimals; ${described(known)}`)
  const isAmount = /^[1-9]\d{0,77}$/.test(amount) && Number.isInteger(decimals) && decimals >= 0
  if (!isAmount || decimals > MAX_DECIMALS || amountText(BigInt(amount), decimals) !== human_amount)
    throw new UntrueAnswer(
      `the quote shows ${human_amount} ${name} where it asks for ${amount} units of ${decimals} decimals`,
    )
}

/** The asset that people would take it for. */
function namesake({ network, extra }: PaymentLeg): KnownAsset | null {
  const ticker = extra.name.toUpperCase()
  return KNOWN_ASSETS.find((known) => known.network === network && known.ticker === ticker) ?? null
}

function described({ ticker, address, decimals }: KnownAsset): string {
  return `${ticker} is ${address}, with ${decimals}`
}
