// Legs in the form of x402 version 2.

import type { Asset } from '@svc/api/assets'
import { paymentReference } from '@svc/protocol/ids'
import { QUOTE_SCHEMA } from '@svc/protocol/names'
import { displayAmount, legAmount } from './amounts.ts'
import type { Leg } from './legs.ts'
import type { Rate, Rates } from './prices/price-oracle.ts'

const MAX_TIMEOUT_SECONDS = 300

export interface PricedLeg extends Leg {
  amount: bigint
  /** Of oracle-priced assets only. */
  rate: Rate | null
}

/** Each leg with its price; a leg without a known rate is left out. */
export function priceLegs(legs: readonly Leg[], rates: Rates, totalUsd: string, units: number): PricedLeg[] {
  return legs.flatMap((leg) => {
    const rate = rateOf(leg.of, rates)
    if (leg.of.pricing.by === 'oracle' && !rate) return []
    return { ...leg, rate, amount: legAmount({ totalUsd, units, asset: leg.of, usdRate: rate?.usd ?? null }) }
  })
}

function rateOf({ pricing }: Asset, rates: Rates): Rate | null {
  return pricing.by === 'oracle' ? (rates[pricing.symbol] ?? null) : null
}

/** A rate on the wire, where the price is a number. */
export function wireRate(rate: Rate) {
  return { ...rate, usd: Number(rate.usd) }
}

export function x402Leg({ of, asset, payTo, amount, rate }: PricedLeg, payReqId: string) {
  return {
    scheme: 'exact' as const,
    network: of.network.caip2,
    amount: String(amount),
    asset,
    payTo,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    extra: {
      name: of.ticker,
      decimals: of.decimals,
      human_amount: displayAmount(amount, of.decimals),
      pay_req_id: payReqId,
      quote_schema: QUOTE_SCHEMA,
      ...(rate && { oracle_rate: wireRate(rate) }),
      // Without a fee payer and a domain version, no stock client signs for a leg that needs a transaction (ADD-21).
      paymentFlow: 'upfront',
      assetTransferMethod: 'transaction-proof',
      memo: paymentReference(payReqId),
    },
  } as const
}
