import type { TreasurySummary } from '@svc/api/internal'
import type { Leg } from '@svc/payments/legs'
import { isoSeconds } from '@svc/protocol/evidence'
import { type Context, unixNow } from '../context.ts'
import { receivedSums } from '../db/received-sums.ts'
import { countReceipts } from './store.ts'

/** Balances come from the chain, sales from the database. The difference is the amount that left the treasury. */
export async function summarizeTreasury(context: Context): Promise<TreasurySummary> {
  const sold = await readSales(context)
  const networks = context.sales.treasuries.map(async ({ network, address, legs, balances }) => {
    const held = await balances.read(legs)
    if (held.includes(null)) context.log.warn({ network: network.name }, 'cannot read a treasury balance')
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
  const received = new Map((await receivedSums(db)).map((row) => [keyOf(row), row.received]))
  const receipts = new Map<string, number>()
  let receiptsTotal = 0
  for await (const row of countReceipts(db)) {
    receipts.set(keyOf(row), (receipts.get(keyOf(row)) ?? 0) + row.receipts)
    receiptsTotal += row.receipts
  }
  return { received, receipts, receiptsTotal }
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
