// The headers of a 402: what clients need to choose a leg and pay it. The body has everything.

import type { PaymentLeg } from '@svc/api/quote'

/**
 * The longest values. Proxies accept a head of 4 kB by default and answer 502 to a longer one (ADD-01); all other
 * headers together take less than 800 bytes.
 */
export const MAX_CHARACTERS = {
  /** WWW-Authenticate. */
  challenges: 1_300,
  /** PAYMENT-REQUIRED, beside challenges. */
  plainOffer: 1_960,
  /** PAYMENT-REQUIRED of the x402 endpoint, beside PAYMENT-RESPONSE. */
  x402Offer: 3_000,
}

interface Quote {
  x402Version: 2
  resource: { url: string }
  accepts: readonly PaymentLeg[]
  extensions: { svc: { info: object } }
}

interface More {
  error?: string | undefined
  /** Extra fields besides our own. */
  extensions?: object
}

/** The JSON of PAYMENT-REQUIRED for a quote that is paid with a transaction. */
export function plainOfferText(quote: Quote): string {
  return offerText(quote, {}, ['name', 'decimals', 'memo'], MAX_CHARACTERS.plainOffer)
}

/**
 * The JSON of PAYMENT-REQUIRED for a quote that is paid with a signature. Clients repeat the leg with the signature.
 */
export function x402OfferText(quote: Quote, more: More): string {
  const keptExtra = ['name', 'decimals', 'memo', 'pay_req_id', 'feePayer', 'version']
  return offerText(quote, more, keptExtra, MAX_CHARACTERS.x402Offer)
}

/** As many legs as fit, and at least one. `legs_left_out` counts the legs that only the body has. */
function offerText(quote: Quote, more: More, keptExtra: readonly string[], maxCharacters: number): string {
  const { x402Version, resource, accepts, extensions } = quote
  const legs = byPreference(accepts).map(({ extra, ...leg }) => {
    const kept = Object.entries(extra).filter(([name]) => keptExtra.includes(name))
    return { ...leg, extra: Object.fromEntries(kept) }
  })
  for (let count = legs.length; ; count--) {
    const left = legs.length - count
    const svc = { info: extensions.svc.info, ...(left > 0 && { legs_left_out: left }) }
    const text = JSON.stringify({
      x402Version,
      error: more.error,
      resource: { url: resource.url },
      accepts: legs.slice(0, count),
      extensions: { svc, ...more.extensions },
    })
    if (count <= 1 || base64Length(text) <= maxCharacters) return text
  }
}

function base64Length(text: string): number {
  return 4 * Math.ceil(Buffer.byteLength(text) / 3)
}

/** The default leg, then USDC, which stock clients pay with; the networks alternate, so that each has a leg. */
function byPreference(legs: readonly PaymentLeg[]): PaymentLeg[] {
  const isUsdc = ({ extra }: PaymentLeg) => extra.name === 'USDC'
  const others = legs.slice(1)
  const ordered = [...legs.slice(0, 1), ...others.filter(isUsdc), ...others.filter((leg) => !isUsdc(leg))]
  return alternated(ordered, ({ network }) => network)
}

/** The first of each group, then the second of each, and so on. */
export function alternated<Item extends object>(items: readonly Item[], groupOf: (item: Item) => string): Item[] {
  const groups = [...Map.groupBy(items, groupOf).values()]
  return items.flatMap((_, turn) => groups.flatMap((group) => group[turn] ?? []))
}
