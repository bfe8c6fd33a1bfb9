import type { PaymentLeg } from '@svc/api/purchases'
import { ASSETS } from '@svc/payments/assets'
import { UntrueAnswer } from '@svc/sdk/errors'
import { amountText } from '@svc/sdk/wallets/objections'

/**
 * What a leg asks for, by what its asset really is: a gateway that puts another name or other decimals to an asset could
 * else ask for a fortune and have a trifle shown.
 */
export function askedAmount({ network, asset, amount, extra }: PaymentLeg): string {
  const known = ASSETS.find(({ network: { caip2 }, ticker }) => caip2 === network && ticker === extra.name)
  if (!known) return `${amount} atomic units of ${asset}, which the gateway calls ${extra.name}`
  const { decimals, defaultAddress } = known
  if (decimals !== extra.decimals)
    throw new UntrueAnswer(`it says that ${extra.name} has ${extra.decimals} decimals; there are ${decimals}`)
  if (defaultAddress !== null && defaultAddress.toLowerCase() !== asset.toLowerCase())
    throw new UntrueAnswer(`it calls ${asset} ${extra.name}; that is ${defaultAddress}`)
  const text = `${amountText(BigInt(amount), decimals)} ${extra.name}`
  return defaultAddress === null ? `${text} (the token ${asset})` : text
}
