import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Price } from '@svc/api/purchases'
import { type GcsServer, startGcsServer } from '@svc/devnet/providers/gcs/start'
import { gcsUrl } from '@svc/devnet/providers/store-urls'
import { type Market, openMarket } from '@svc/devnet/services/market'
import type { TestGateway } from '@svc/devnet/services/test-gateway'
import { afterAll, beforeAll, expect, it } from 'vitest'

const SECRET = 'internal-secret-of-the-operator'

let folder: string
let gcs: GcsServer
let market: Market
let shop: TestGateway
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-gcs-'))
  gcs = await startGcsServer({ folder })
  market = await openMarket()
  shop = await market.open({
    GCS: gcsUrl(gcs),
    LOCAL_PROVIDERS: 'mongodb,firestore',
    INTERNAL_SECRET: SECRET,
  })
})
afterAll(async () => {
  await market.close()
  await gcs.stop()
  await rm(folder, { recursive: true })
})

const offered = async () => Object.keys((await shop.send<Price>('GET', '/v1/price')).body.providers)
const providerOf = (quote: Awaited<ReturnType<TestGateway['quote']>>) => quote.extensions.svc.price_summary.provider
const metric = async () => {
  const headers = { authorization: `Bearer ${SECRET}` }
  const text = await (await fetch(`${shop.gateway.url}/metrics`, { headers })).text()
  return /^svc_provider_up\{provider="gcs"\} (\d)$/m.exec(text)?.[1]
}

it('PAY-03 VER-20 a provider is sold only while it answers, and its outage appears in /health without changing the default', async () => {
  expect(await offered()).toEqual(['gcs', 'mongodb', 'firestore'])
  expect(providerOf(await shop.quote({ units: 1 }))).toBe('gcs')
  expect(await metric()).toBe('1')

  await gcs.stop()
  market.clock.advance(11)
  await expect.poll(offered).toEqual(['mongodb', 'firestore'])
  expect(providerOf(await shop.quote({ units: 1, provider: 'mongodb' }))).toBe('mongodb')
  for (const order of [{ units: 1 }, { units: 1, provider: 'gcs' }]) {
    const refused = await shop.send<{ error: string; hint: string }>('POST', '/v1/storage/request', order)
    expect([refused.status, refused.body.error]).toEqual([503, 'STORAGE_UNAVAILABLE'])
    expect(refused.headers.get('retry-after')).toBe('60')
    expect(refused.body.hint).toBe('name mongodb or firestore as provider, or try again in a minute')
  }
  expect((await shop.send<Price>('GET', '/v1/price')).body.provider).toBe('gcs')
  const health = await shop.send('GET', '/health')
  expect(health.status).toBe(200)
  expect(health.body).toMatchObject({
    status: 'ok',
    checks: { storage: 'ok' },
    providers: { gcs: 'failing', mongodb: 'ok', firestore: 'ok' },
    warnings: ['storage provider gcs does not answer: it is left out of quotes'],
  })
  expect(await metric()).toBe('0')

  gcs = await startGcsServer({ folder, port: gcs.port })
  market.clock.advance(11)
  await expect.poll(offered).toContain('gcs')
  expect(providerOf(await shop.quote({ units: 1, provider: 'gcs' }))).toBe('gcs')
  expect((await shop.send('GET', '/health')).body).not.toHaveProperty('warnings')
})

it('PAY-03 ordering a provider that is not configured is a 422', async () => {
  const refused = await shop.send<{ error: string; message: string }>('POST', '/v1/storage/request', {
    units: 1,
    provider: 'storj',
  })
  expect([refused.status, refused.body.error]).toEqual([422, 'validation_error'])
  expect(refused.body.message).toContain('choose gcs, mongodb, firestore')
})
