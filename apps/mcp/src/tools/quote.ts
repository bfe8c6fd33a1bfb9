import { requestStorage, Terms } from '@svc/api/purchases'
import Type from 'typebox'
import { STRICT, tool } from './tool.ts'

const { units, provider } = requestStorage.body.properties

export const quote = tool({
  name: 'quote',
  title: 'What storage costs',
  description:
    'Tells what a new locker costs and what it holds. Free: nothing is paid, reserved or bought. ' +
    'To buy it, call `buy` with the same units and provider; never pay by other means.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  input: Type.Object({ units, provider }, STRICT),
  output: Type.Object({
    units: Type.Integer(),
    provider: Type.String(),
    total_usd: Type.Number({ description: 'As the gateway counts it.' }),
    prices: Type.Array(Type.Object({ network: Type.String(), asset: Type.String(), amount: Type.String() })),
    terms: Terms,
    expires_at: Type.String({ description: 'Until when this price holds.' }),
  }),
  async run({ client }, order, { signal }) {
    const { accepts, extensions } = await client.quote(order, { signal })
    const { price_summary, terms, info } = extensions.svc
    const { storage_limit_bytes, file_limit, egress_included_bytes, ttl_days, storage } = terms
    return {
      text:
        `${price_summary.units} unit(s) at ${price_summary.provider} cost $${price_summary.total_usd}: ` +
        `${storage_limit_bytes} bytes in up to ${file_limit} files for ${ttl_days} days. Nothing was paid.`,
      data: {
        units: price_summary.units,
        provider: price_summary.provider,
        total_usd: price_summary.total_usd,
        prices: accepts.map(({ network, extra }) => ({ network, asset: extra.name, amount: extra.human_amount })),
        terms: { storage_limit_bytes, file_limit, egress_included_bytes, ttl_days, ...(storage && { storage }) },
        expires_at: info.expires_at,
      },
    }
  },
})
