import { type Quote, requestStorage, Terms } from '@svc/api/purchases'
import { type NetworkFee, payableLeg, type Wallet } from '@svc/sdk'
import { amountText, feeText } from '@svc/sdk/money'
import Type from 'typebox'
import { counted } from '../server/readable.ts'
import { ProviderChoice } from './provider.ts'
import { READS, STRICT, tool } from './tool.ts'

const { units } = requestStorage.body.properties

export const quote = tool({
  name: 'quote',
  title: 'Price of storage',
  description:
    'Shows the price and terms of a new locker. Free: nothing is paid or reserved. `buy` takes the same units and provider.',
  annotations: READS,
  input: Type.Object({ units, provider: ProviderChoice }, STRICT),
  output: Type.Object({
    units: Type.Integer(),
    provider: Type.String(),
    total_usd: Type.Number({ description: 'The price in dollars, by the gateway’s own count.' }),
    prices: Type.Array(Type.Object({ network: Type.String(), asset: Type.String(), amount: Type.String() })),
    network_fee: Type.Optional(
      Type.Object(
        { asset: Type.String(), at_most: Type.String() },
        {
          description:
            'What the network may charge the wallet of this server for a payment in USDC, on top of the price.',
        },
      ),
    ),
    terms: Terms,
    expires_at: Type.String({ description: 'When this price expires.' }),
  }),
  async run({ client, owner }, order, { signal }) {
    const quoted = await client.quote(order, { signal })
    const { accepts, extensions } = quoted
    const fee = await networkFee(owner?.wallet, quoted)
    const { price_summary, terms, info } = extensions.svc
    const { storage_limit_bytes, file_limit, egress_included_bytes, ttl_days, storage } = terms
    return {
      text:
        `$${price_summary.total_usd} for ${counted(price_summary.units, 'unit')} at ${price_summary.provider}: ` +
        `${storage_limit_bytes} bytes in up to ${file_limit} files for ${ttl_days} days. ` +
        `${fee ? `The network charges ${feeText(fee)} on top. ` : ''}Nothing was paid.`,
      data: {
        units: price_summary.units,
        provider: price_summary.provider,
        total_usd: price_summary.total_usd,
        prices: accepts.map(({ network, extra }) => ({ network, asset: extra.name, amount: extra.human_amount })),
        ...(fee && { network_fee: { asset: fee.ticker, at_most: amountText(fee.amount, fee.decimals) } }),
        terms: { storage_limit_bytes, file_limit, egress_included_bytes, ttl_days, ...(storage && { storage }) },
        expires_at: info.expires_at,
      },
    }
  },
})

/** Null if there is no wallet, or the wallet cannot pay because of its node or its balance. */
async function networkFee(wallet: Wallet | null | undefined, quoted: Quote): Promise<NetworkFee | null> {
  if (!wallet?.fee) return null
  try {
    return await wallet.fee(payableLeg(quoted, wallet, 'USDC').leg)
  } catch {
    return null
  }
}
