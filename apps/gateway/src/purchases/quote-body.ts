// The body of a 402: what to pay, where, by when, and what one gets.

import type { Quote, Terms } from '@svc/api/purchases'
import type { PricedLeg } from '@svc/payments/x402'
import { x402Leg } from '@svc/payments/x402'
import { toHex, utf8 } from '@svc/protocol/bytes'
import { isoSeconds } from '@svc/protocol/evidence'
import type { QuoteFacts } from './quote-facts.ts'

export function quoteBody(facts: QuoteFacts): Quote {
  const { payReqId, baseUrl, units, provider, legs } = facts
  const confirmUrl = `${baseUrl}/v1/storage/confirm`
  const expires = isoSeconds(facts.expiresAt)
  return {
    x402Version: 2,
    resource: {
      url: `${baseUrl}/v1/storage/request`,
      description: `${units} unit${units === 1 ? '' : 's'} of storage at ${provider}`,
      mimeType: 'application/json',
    },
    accepts: legs.map((leg) => x402Leg(leg, payReqId)),
    error: 'Payment required: pay one of the legs, then confirm with the transaction.',
    extensions: {
      svc: {
        terms: {
          ...scaled(facts.terms, units),
          quote_expires_at: expires,
          ...(facts.isDevelopment && { environment: 'development' as const }),
        },
        instructions: {
          steps: steps(facts, confirmUrl),
          confirm_url: confirmUrl,
          cli_example: cliExample(legs[0], payReqId, confirmUrl),
        },
        price_summary: {
          unit_price_usd: Number(facts.unitPriceUsd),
          units,
          total_usd: Number(facts.totalUsd),
          provider,
        },
        legacy: legacyForm(legs[0], payReqId),
        info: {
          flow: 'pay-then-confirm',
          confirm_url: confirmUrl,
          confirm_header: 'X402-TX',
          pay_req_id: payReqId,
          expires_at: expires,
        },
        schema: INFO_SCHEMA,
      },
    },
  }
}

const INFO_SCHEMA = {
  type: 'object',
  required: ['flow', 'confirm_url', 'confirm_header', 'pay_req_id', 'expires_at'],
  additionalProperties: { type: 'string' },
}

/** Three units hold three times as much, for as long. */
function scaled(terms: Terms, units: number): Terms {
  return {
    ...terms,
    storage_limit_bytes: terms.storage_limit_bytes * units,
    file_limit: terms.file_limit * units,
    egress_included_bytes: terms.egress_included_bytes * units,
  }
}

function steps({ isDevelopment, payReqId }: QuoteFacts, confirmUrl: string): string[] {
  return [
    ...developmentWarning(isDevelopment),
    `Pay one entry of accepts: its amount of its asset to its payTo. Put ${payReqId} into a memo or the calldata.`,
    `POST ${confirmUrl} with header X402-TX: <transaction> and body {"pay_req_id":"${payReqId}"}; for another leg than the first, add pay_network and pay_asset.`,
    'Keep the receipt: it opens the locker.',
  ]
}

/** Comes first wherever somebody is told to pay (ADD-10). */
export function developmentWarning(isDevelopment: boolean): string[] {
  const warning = 'DEVELOPMENT: do not send real funds. This gateway runs on local chains with worthless coins.'
  return isDevelopment ? [warning] : []
}

/** With the tools people have: the memo binds the payment to this quote, so that nobody else can claim it. */
function cliExample(leg: PricedLeg, payReqId: string, confirmUrl: string): string {
  const confirm = `curl -X POST ${confirmUrl} -H 'X402-TX: <transaction>' -H 'Content-Type: application/json' -d '{"pay_req_id":"${payReqId}"}'`
  return `${payCommand(leg, payReqId)} && ${confirm}`
}

function payCommand({ of, asset, payTo, amount }: PricedLeg, payReqId: string): string {
  const isNative = asset === of.network.nativeAsset
  const memo = toHex(utf8(payReqId))
  if (of.network.family === 'evm') {
    return isNative
      ? `cast send ${payTo} 0x${memo} --value ${amount}`
      : `cast send ${asset} $(cast calldata 'transfer(address,uint256)' ${payTo} ${amount})${memo}`
  }
  const display = x402Leg({ of, asset, payTo, amount, rate: null }, payReqId).extra.human_amount
  return isNative
    ? `solana transfer ${payTo} ${display} --with-memo ${payReqId}`
    : `spl-token transfer ${asset} ${display} ${payTo} --with-memo ${payReqId}`
}

/** Field names of older quotes, for the default leg (AMB-12). */
function legacyForm(leg: PricedLeg, payReqId: string) {
  const { network, ticker } = leg.of
  const amount = String(leg.amount)
  const isSol = ticker === 'SOL'
  return {
    pay_req_id: payReqId,
    pay_to_address: leg.payTo,
    pay_network: network.name,
    pay_asset: ticker,
    amount_raw: amount,
    amount_sol: isSol ? x402Leg(leg, payReqId).extra.human_amount : null,
    amount_lamports: isSol ? amount : null,
    amount_wei: ticker === 'MON' ? amount : null,
  }
}
