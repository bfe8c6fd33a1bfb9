// A gateway on local chains with a complete locker: files, a statement, an anchor, an entry in the log.

import { Readable } from 'node:stream'
import type { AttestAnswer } from '@svc/api/attestations'
import type { LogState } from '@svc/api/log'
import type { Confirmation, Quote } from '@svc/api/purchases'
import type { PaymentLeg } from '@svc/api/quote'
import type { Share } from '@svc/api/shares'
import { type ChangeLog, watchChanges } from '@svc/devnet/change-log'
import { testClock } from '@svc/devnet/clock'
import { type LocalChains, startLocalChains } from '@svc/devnet/local-chains'
import { type OidcIssuer, startOidcIssuer, TEST_AUDIENCE } from '@svc/devnet/oidc-issuer'
import { payLeg } from '@svc/devnet/pay-leg'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { seedLocker } from '@svc/devnet/services/seed-lockers'
import { ed25519Identity, type Identity } from '@svc/devnet/services/signing'
import { lockerId } from '@svc/protocol/ids'
import { type Ask, askBy } from '../ask.ts'
import type { Credential } from '../draft.ts'
import { type Line, openLine } from '../exchange.ts'
import { type Description, describedBy } from '../operation.ts'
import { bearer, envelopeOf } from './credentials.ts'

export const ADMIN_SECRET = 'the-secret-of-the-operators-tools'
export const ORACLE_SECRET = 'the-secret-that-oracles-show-us'

export interface OwnedLocker {
  owner: Identity
  lockerId: string
  receiptId: string
  /** The owner's credential. */
  credential: Credential
}

interface PaidQuote {
  quote: Quote
  leg: PaymentLeg
  payReqId: string
  tx: string
}

export interface GatewayFixture {
  gateway: Awaited<ReturnType<typeof startTestGateway>>
  chains: LocalChains
  description: Description
  line: Line
  now: () => number
  issuer: OidcIssuer
  ask: Ask
  changes: ChangeLog
  /** Has two files, a statement and an anchor. Requests must not write to it. */
  main: OwnedLocker & { filename: string; shareId: string; statementDigest: string; anchorTx: string; logSize: number }
  /** A purchase that was paid on chain. */
  bought: PaidQuote & { receiptId: string }
  /** A new locker, for operations that leave changes behind. */
  locker(): Promise<OwnedLocker>
  /** The newest of these lockers. */
  latest(): OwnedLocker | null
  quote(): Promise<Quote>
  /** A paid quote that is not confirmed. */
  paidQuote(order?: object): Promise<PaidQuote>
  /** A file with bytes in a new locker. */
  file(): Promise<OwnedLocker & { filename: string; urls: Record<string, string> }>
  /** Adds a cleanup step; the last one runs first. */
  defer(close: () => Promise<void>): void
  close(): Promise<void>
}

export async function openGatewayFixture(databaseUrl?: string): Promise<GatewayFixture> {
  await using opened = new AsyncDisposableStack()
  const { now } = testClock()
  const chains = await startLocalChains({ landing: 'at once', now })
  opened.defer(chains.stop)
  const issuer = await startOidcIssuer({ now })
  opened.defer(issuer.stop)
  const gateway = await startTestGateway(
    {
      ...chains.variables,
      SPONSOR_OIDC: `${identityProvider(issuer)},subject=sponsor`,
      ATTEST_JWT: identityProvider(issuer),
      INTERNAL_SECRET: ADMIN_SECRET,
      ADMINS: 'secret',
      ORACLE_CALLBACK_SECRET: ORACLE_SECRET,
      MAX_LOCKERS_PER_OWNER: '1000000',
      ...(databaseUrl && { DATABASE_URL: databaseUrl }),
    },
    {
      now,
      fetchSource: async (url) => ({ ...WEB_PAGE, stream: Readable.from([Buffer.from('hello')]), finalUrl: url }),
    },
  )
  opened.defer(gateway.stop)
  const description = await describedBy(gateway.url)
  const line = openLine(gateway.url)
  opened.defer(async () => line.close())
  const ask = askBy(description.operations, line)

  let latest: OwnedLocker | null = null
  async function locker(): Promise<OwnedLocker> {
    const owner = ed25519Identity()
    const { receipt_id } = await seedLocker(gateway.context, { owner: owner.identity })
    latest = lockerOf(owner, receipt_id, now)
    return latest
  }

  async function put(to: OwnedLocker, filename: string): Promise<Record<string, string>> {
    const { credential, receiptId: receipt_id } = to
    const body = { filename, content_type: 'text/plain' }
    const path = { locker_id: to.lockerId }
    const urls = await ask<Record<string, string>>('createFile', { path, body, credential })
    const headers = { 'content-type': 'text/plain' }
    await ask('writeByToken', { path: { token: tokenOf(urls.upload_url) }, headers, body: Buffer.from('hello') })
    await ask('confirmFile', { body: { receipt_id, filename }, credential })
    return urls
  }

  async function quote(order: object = {}): Promise<Quote> {
    const leg = { pay_asset: 'USDC', pay_network: 'primary-mainnet' }
    return ask<Quote>('requestStorage', { body: { units: 1, ...leg, ...order } })
  }

  async function paidQuote(order?: object): Promise<PaidQuote> {
    const asked = await quote(order)
    const leg = asked.accepts[0] as PaymentLeg // there is one for the requested asset
    return { quote: asked, leg, payReqId: leg.extra.pay_req_id, tx: await payLeg(chains, leg) }
  }

  async function attested(): Promise<GatewayFixture['main']> {
    const made = await locker()
    const { receiptId: receipt_id, credential } = made
    for (const filename of ['a.txt', 'notes/b.txt']) await put(made, filename)
    const answer = await ask<AttestAnswer>('attest', { query: { receipt_id, sync: true }, credential })
    await gateway.context.publishLog()
    const { size: logSize } = await ask<LogState>('logState', {})
    const shared = { path: { locker_id: made.lockerId }, body: { path: 'a.txt' }, credential }
    const { id: shareId } = await ask<Share>('createShare', shared)
    const statementDigest = answer.attestation.envelope?.statement_digest ?? ''
    return {
      ...made,
      filename: 'a.txt',
      shareId,
      statementDigest,
      anchorTx: answer.push_result.anchor?.tx ?? '',
      logSize,
    }
  }

  async function purchase(): Promise<GatewayFixture['bought']> {
    const paid = await paidQuote()
    const body = { pay_req_id: paid.payReqId, tx_sig: paid.tx }
    const { receipt_id: receiptId } = await ask<Confirmation>('confirmStorage', { body })
    return { ...paid, receiptId }
  }

  const fixture = {
    gateway,
    chains,
    description,
    line,
    now,
    issuer,
    ask,
    changes: await watchChanges(gateway.context.database),
    main: await attested(),
    bought: await purchase(),
    locker,
    latest: () => latest,
    quote,
    paidQuote,
    async file() {
      const made = await locker()
      return { ...made, filename: 'a.txt', urls: await put(made, 'a.txt') }
    },
  }
  const running = opened.move()
  return { ...fixture, defer: (close) => void running.defer(close), close: () => running.disposeAsync() }
}

/** The content of every web address, as this gateway sees it. */
const WEB_PAGE = { contentType: 'text/plain', size: 5 }

function identityProvider({ issuer, jwksUrl }: OidcIssuer): string {
  return `issuer=${issuer},audience=${TEST_AUDIENCE},jwks=${jwksUrl}`
}

/** The locker of a receipt, with or without it. */
export function lockerOf(owner: Identity, receiptId: string, now: () => number): OwnedLocker {
  const made = { owner, receiptId, lockerId: lockerId(receiptId) }
  return { ...made, credential: envelopeOf(made, now) }
}

/** The token in a short URL. */
export function tokenOf(url = ''): string {
  return url.slice(url.lastIndexOf('/') + 1)
}

/** The credentials by security scheme. */
export function credentialsOf({ main, issuer }: GatewayFixture): Record<string, Credential> {
  return {
    envelope: main.credential,
    identityToken: bearer(() => issuer.token()),
    adminToken: bearer(() => ADMIN_SECRET),
  }
}
