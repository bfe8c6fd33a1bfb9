// A test market whose gateways accept a sponsor, with an identity provider on loopback.

import type { Quote } from '@svc/api/purchases'
import type { PaymentLeg } from '@svc/api/quote'
import type { SponsoredBatch, SponsoredConfirmation } from '@svc/api/sponsored'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import type { LocalChainsOptions } from '@svc/devnet/local-chains'
import { type OidcIssuer, startOidcIssuer, TEST_AUDIENCE } from '@svc/devnet/oidc-issuer'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { legOf, type Market, openMarket, payReqId } from '@svc/devnet/services/market'
import type { Reply, TestGateway } from '@svc/devnet/services/test-gateway'
import type { Variables } from '@svc/service/program/config'
import type { Overrides } from '../../../../src/context.ts'

export interface SponsoredMarket {
  issuer: OidcIssuer
  market: Market
  open(variables?: Variables, overrides?: Overrides): Promise<SponsoredShop>
  close(): Promise<void>
}

export interface SponsoredShop extends TestGateway {
  /** Sends the sponsor's token unless another header is given; null sends none. */
  sponsor(body: object, authorization?: string | null): Promise<Reply<SponsoredConfirmation>>
  sponsorBatch(body: object, authorization?: string | null): Promise<Reply<SponsoredBatch>>
  /** All rows in the tables of a purchase, to check that nothing was written. */
  written(): Promise<Record<string, unknown[]>>
}

/** The wallets of demo payer 0. */
export const OWNER = DEMO_PAYERS[0]!.address
export const EVM_OWNER = DEV_PAYERS[0]!.address

export async function openSponsoredMarket(options?: LocalChainsOptions): Promise<SponsoredMarket> {
  const market = await openMarket(options)
  const issuer = await startOidcIssuer({ now: market.clock.now })
  const identity = {
    SPONSOR_OIDC: `issuer=${issuer.issuer},audience=${TEST_AUDIENCE},jwks=${issuer.jwksUrl},subject=sponsor`,
  }
  return {
    issuer,
    market,
    open: async (variables, overrides) =>
      sponsoredShop(await market.open({ ...identity, ...variables }, overrides), issuer),
    async close() {
      await market.close()
      await issuer.stop()
    },
  }
}

function sponsoredShop(shop: TestGateway, issuer: OidcIssuer): SponsoredShop {
  const send = <Body>(path: string, body: object, authorization: string | null = `Bearer ${issuer.token()}`) =>
    shop.send<Body>('POST', path, body, authorization === null ? {} : { authorization })
  return {
    ...shop,
    sponsor: (body, authorization) => send('/v1/storage/sponsored-confirm', body, authorization),
    sponsorBatch: (body, authorization) => send('/v1/storage/sponsored-confirm-batch', body, authorization),
    async written() {
      const { db } = shop.gateway.context.database
      const tables = ['receipts', 'payment_transactions', 'lockers', 'owners'] as const
      const rows = await Promise.all(tables.map((table) => db.selectFrom(table).selectAll().execute()))
      return Object.fromEntries(tables.map((table, i) => [table, rows[i] ?? []]))
    },
  }
}

/** Several quotes, and a leg over their sum. */
export async function quotes(shop: TestGateway, count: number, ticker = 'USDC', network?: string) {
  const all = await Promise.all(Array.from({ length: count }, () => shop.quote()))
  return { all, ids: all.map(payReqId), sum: sumLeg(all, ticker, network) }
}

function sumLeg(all: readonly Quote[], ticker: string, network?: string): PaymentLeg {
  const legs = all.map((quote) => legOf(quote, ticker, network))
  return { ...legs[0]!, amount: String(legs.reduce((sum, { amount }) => sum + BigInt(amount), 0n)) }
}
