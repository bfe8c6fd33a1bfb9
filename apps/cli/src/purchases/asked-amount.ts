import type { PaymentLeg } from '@svc/api/quote'
import { amountText, knownAsset } from '@svc/sdk/money'

/** What a leg asks for. The client has refused legs that call something by the name of what everybody knows. */
export function askedAmount(leg: PaymentLeg): string {
  const { asset, amount, extra } = leg
  const text = `${amountText(BigInt(amount), extra.decimals)} ${extra.name}`
  return knownAsset(leg) ? text : `${text} (the token ${asset})`
}
