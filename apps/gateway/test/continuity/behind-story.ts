// For tests: a locker with every kind of stored state, on a database that will be restored from an older copy.

import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { UrlSet } from '@svc/api/file-entries'
import type { PaymentLeg } from '@svc/api/quote'
import type { NewS3Key } from '@svc/api/s3-credentials'
import type { Share } from '@svc/api/shares'
import type { TusToken } from '@svc/api/tus'
import type { UploadSession } from '@svc/api/upload-sessions'
import { startOidcIssuer, TEST_AUDIENCE } from '@svc/devnet/oidc-issuer'
import { onlyProvider } from '@svc/devnet/services/only-provider'
import { seedReceipt } from '@svc/devnet/services/seed-lockers'
import { ed25519Identity, reply } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { fromHex, toBase58, toHex } from '@svc/protocol/bytes'
import { issuerKeyId } from '@svc/protocol/ids'
import { ed25519Signer } from '@svc/protocol/keys'
import { openLocalProvider } from '@svc/storage/local'
import { expect } from 'vitest'
import { announceKey } from '../../src/views/admin/keys/announce-key.ts'
import { expectSuccess, KEY } from '../adapters/s3/credentials/credentials-gateway.ts'
import { sendSigned } from '../adapters/s3/s3-gateway.ts'
import { askToAttest } from '../evidence/attest.ts'
import type { CopiedDatabase } from './copy-database.ts'
import { openRestorable } from './restorable.ts'

/** The transaction that paid. */
export const TX = toBase58(Buffer.alloc(64, 7))
export const TEXT = { 'content-type': 'text/plain' }
const JSON_TYPE = { 'content-type': 'application/json' }
export const TUS = { 'tus-resumable': '1.0.0' }
export const CHUNK = { ...TUS, 'content-type': 'application/offset+octet-stream' }

const NEXT_SEED = '62'.repeat(32)
const NEXT_KEY = toHex(ed25519Signer(fromHex(NEXT_SEED)!).publicKey)
const LEG: PaymentLeg = {
  scheme: 'exact',
  network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  amount: '1',
  payTo: 'FQnm7VnmFawD9Dtb4yCexQjERoZ9LkdzAYijzK5tzQEe',
  maxTimeoutSeconds: 300,
  extra: { name: 'USDC', decimals: 6 },
} as PaymentLeg // not from a real quote

/** Opens a gateway with a bought locker and an operator of it. */
export async function openStory(database: CopiedDatabase) {
  const [owner, operator] = [ed25519Identity(), ed25519Identity()]
  let now = Date.now
  const issuer = await startOidcIssuer({ now: () => now() })
  /** The objects that clients were redirected to. */
  const directIds: string[] = []
  const provider = `issuer=${issuer.issuer},audience=${TEST_AUDIENCE},jwks=${issuer.jwksUrl}`
  const oidc = { INTERNAL_OIDC: `${provider},subject=operator`, SPONSOR_OIDC: `${provider},subject=operator` }
  // By default tests have no rate limits, and nothing is counted.
  const settings = { RATE_LIMITS: 'receipt=30000/min', ...oidc, ADMINS: 'operator' }
  const keys = { STATEMENT_KEY: '61'.repeat(32), STATEMENT_KEY_NEXT: NEXT_SEED }
  const tokens = { ATTEST_JWT: provider }
  const gateway = await openRestorable(database, { ...settings, ...keys, ...tokens }, async (folder) => {
    const store = await openLocalProvider({ folder: join(folder, 'objects') })
    const uploadTarget = async (id: string) => {
      directIds.push(id)
      return { url: `https://provider.example/${id}`, headers: {} }
    }
    return { providers: onlyProvider({ ...store, uploadTarget }) }
  })
  now = gateway.clock.now
  const bought = await seedReceipt(gateway.instance().gateway.context, {
    owner: owner.identity,
    tx: TX,
    accepts: [LEG],
  })
  const { call, lockerId, receiptId } = await gateway.locker(owner, [operator], bought.receipt_id)
  return {
    ...gateway,
    ids: { lockerId, receiptId },
    payReqId: bought.pay_req_id,
    owner,
    operator,
    issuer,
    directIds,
    call,
    /** Sends to the gateway that is currently open. */
    async send<Body>(method: string, url: string, headers: Record<string, string> = {}, body?: string) {
      const base = gateway.instance().gateway.url
      const { pathname, search } = new URL(url, base)
      const init = { method, headers, redirect: 'manual', ...(body !== undefined && { body }) } as const
      return reply<Body>(await fetch(base + pathname + search, init))
    },
    removeOperator: async () =>
      expectSuccess(await call(['locker:admin'], 'DELETE', `/operators/${operator.identity}`)),
    async close() {
      await gateway.close()
      await issuer.stop()
    },
  }
}

export type Story = Awaited<ReturnType<typeof openStory>>
export type Written = UrlSet & { delete_url: string }
export type OperatorAccess = Awaited<ReturnType<typeof fillEntryPoints>>

/** Credentials of an operator for every protocol, and bytes that wait at each. */
export async function fillEntryPoints({ call, send, operator, directIds, instance, ids }: Story) {
  const write = <Body>(path: string, body: unknown) => call<Body>(['locker:write'], 'POST', path, body, operator)
  const name = async (filename: string) =>
    expectSuccess(await write<Written>('/files', { filename, content_type: 'text/plain', ttl_min: 600 }))
  const urls = await name('a.txt')
  expect((await send('PUT', `${urls.upload_url}?proxy=1`, TEXT, 'first')).status).toBe(200)
  const { upload_url } = await name('kept.txt')
  expect((await send('PUT', `${upload_url}?proxy=1`, TEXT, 'kept')).status).toBe(200)
  expectSuccess(await send('POST', `/v1/files/confirm?receipt_id=${ids.receiptId}&filename=kept.txt`))
  const direct = await name('direct.txt')
  expect((await send('PUT', direct.upload_url, TEXT, '')).status).toBe(307)
  const about = { contentType: 'text/plain', size: 6 }
  const storage = instance().gateway.context.providers.named('gcs')
  await storage.write(directIds.at(-1)!, Readable.from([Buffer.from('direct')]), about)
  const session = expectSuccess(
    await write<UploadSession>('/upload-sessions', { files: [{ filename: 'parts.txt', content_type: 'text/plain' }] }),
  )
  const holder = { 'x-upload-token': session.upload_token, ...JSON_TYPE }
  const part = JSON.stringify({ index: 0, data: Buffer.from('part').toString('base64') })
  expect((await send('POST', session.files[0]!.parts_url, holder, part)).status).toBe(200)
  const token = expectSuccess(await write<TusToken>('/tus/tokens', { ttl_min: 600 }))
  const metadata = { 'upload-metadata': `filename ${Buffer.from('tus.txt').toString('base64')}` }
  const begin = { ...CHUNK, ...token.headers, ...metadata, 'upload-length': '9' }
  const created = await send('POST', token.tus_endpoint, begin, 'four')
  expect(created.status, JSON.stringify(created.body)).toBe(201)
  const key = expectSuccess(await call<NewS3Key>(['locker:admin'], 'POST', '/s3/keys', KEY))
  const s3 = (method: string, path: string) =>
    sendSigned(instance(), key, method, `/s3/${ids.lockerId}/${path}`, { body: '' })
  expect((await s3('PUT', 'folder/')).status).toBe(200)
  const { text } = await s3('POST', 'multipart.txt?uploads=')
  const [, uploadId = ''] = /<UploadId>([^<]+)</.exec(text) ?? []
  const share = expectSuccess(await call<Share>(['locker:read'], 'POST', '/shares', { path: 'a.txt' }))
  return { share, urls, session, holder, upload: created.headers.get('location')!, tusToken: token, key, uploadId }
}

export type StoredRecords = Awaited<ReturnType<typeof fillRecords>>

/** A logged statement, a permanently failed job, and keys that can be withdrawn, rotated to and revoked. */
export async function fillRecords({ instance, owner, ids }: Story) {
  const { context } = instance().gateway
  const { database, queue } = context
  const { envelope } = expectSuccess(await askToAttest(instance(), { owner, receiptId: ids.receiptId })).attestation
  await context.publishLog()
  const retired = '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c'
  const start = Math.floor(context.now() / 1000) + 86_400
  const order = { publicKeyHex: NEXT_KEY, start, reason: 'a test' }
  await announceKey(context, { identity: 'a test' }, order)
  const [from, to] = ['2025-01-01T00:00:00Z', '2025-06-01T00:00:00Z']
  await writable(database.db)
    .insertInto('signing_keys')
    .values({ public_key_hex: retired, valid_from: from, valid_to: to, revoked_since: null })
    .execute()
  await database.commit((tx) => queue.enqueue(tx, 'attest', { receipt_id: `rcpt_${'0'.repeat(32)}` }))
  await queue.drain()
  const [dead] = await queue.deadLetters()
  // The sale is not counted yet.
  await seedReceipt(context, { owner: owner.identity })
  return {
    digest: envelope!.statement_digest,
    jobId: dead!.id,
    announced: issuerKeyId(NEXT_KEY),
    retired: issuerKeyId(retired),
  }
}
