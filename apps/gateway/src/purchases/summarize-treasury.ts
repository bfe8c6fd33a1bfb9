import type { TreasurySummary } from '@svc/api/internal'
import type { Leg } from '@svc/payments/legs'
import { isoSeconds } from '@svc/protocol/evidence'
import { type Context, unixNow } from '../context.ts'
import { countReceipts, streamReceivedAmounts } from './store.ts'

/** Balances come from the chain, sales from the database. Their difference is what left the treasury. */
export async function summarizeTreasury(context: Context): Promise<TreasurySummary> {
  const sold = await readSales(context)
  const networks = context.sales.treasuries.map(async ({ network, address, legs, balances }) => {
    const held = await balances.read(legs)
    if (held.includes(null)) context.log.warn({ network: network.name }, 'a treasury balance could not be read')
    return { network: network.name, address, assets: legs.map((leg, i) => assetSummary(leg, held[i] ?? null, sold)) }
  })
  return {
    networks: await Promise.all(networks),
    receipts_total: sold.receiptsTotal,
    time: isoSeconds(unixNow(context)),
  }
}

interface Sold {
  received: ReadonlyMap<string, bigint>
  receipts: ReadonlyMap<string, number>
  receiptsTotal: number
}

async function readSales({ database: { db } }: Context): Promise<Sold> {
  const received = new Map<string, bigint>()
  for await (const row of streamReceivedAmounts(db)) {
    received.set(keyOf(row), (received.get(keyOf(row)) ?? 0n) + BigInt(row.received))
  }
  const counts = await countReceipts(db)
  return {
    received,
    receipts: new Map(counts.map((row) => [keyOf(row), row.receipts])),
    receiptsTotal: counts.reduce((sum, { receipts }) => sum + receipts, 0),
  }
}

function keyOf({ network, asset }: { network: string; asset: string | null }): string {
  return `${asset} on ${network}`
}

function assetSummary({ of, payTo }: Leg, held: bigint | null, { received, receipts }: Sold) {
  const key = keyOf({ network: of.network.name, asset: of.ticker })
  return {
    asset: of.ticker,
    decimals: of.decimals,
    account: payTo,
    balance_raw: held === null ? null : String(held),
    received_raw: String(received.get(key) ?? 0n),
    receipts: receipts.get(key) ?? 0,
    ...(held === null && { error: 'chain_unavailable' as const }),
  }
}
