import { forEachDatabase } from '@svc/devnet/databases'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { ed25519Identity, openTestGateway, type TestGateway, type TestLocker } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import type { KyselyPlugin } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMetrics } from '../../../src/views/metrics/metrics.ts'
import { attest } from '../../evidence/attest.ts'
import { scrape } from './scrape.ts'

const COUNT = 'svc_http_request_duration_seconds_count'
/** Longer than any cache lives. */
const LATER = 3600

describe('labels of requests', () => {
  let instance: TestGateway
  let locker: TestLocker
  const filename = 'a-name-nobody-else-has'
  beforeAll(async () => {
    instance = await openTestGateway()
    locker = await instance.locker(ed25519Identity(), { tags: ['a-tag-nobody-else-has'] })
    await locker.put(filename, 'bytes')
  })
  afterAll(() => instance.close())
  const ask = (path: string, method: string) => fetch(instance.gateway.url + path, { method })

  it('T-07 labels requests with their declared route, and reveals no id or token', async () => {
    const { attestation } = await attest(instance, locker)
    const { body } = await locker.call<{ download_url: string }>(['locker:read'], 'GET', `/files/${filename}`)
    const token = new URL(body.download_url).pathname.split('/').at(-1) as string
    expect(token.length).toBeGreaterThan(20)
    const paths = [
      `/f/${token}`,
      `/f/${token.slice(0, -1)}`,
      `/v1/receipts/${locker.receiptId}`,
      `/v1/lockers/${locker.lockerId}`,
      `/v1/lockers/${locker.lockerId}/files/${filename}`,
      `/${token}/${locker.receiptId}`,
      `/%zz${token}`,
      `/v1/receipts/${locker.receiptId}/nothing-here?${token}`,
    ]
    for (const path of paths) for (const method of ['GET', 'HEAD', 'PATCH']) await ask(path, method)
    const { text, value } = await scrape(instance.gateway.url)
    const { proof_id, snapshot_id } = attestation
    const secrets = [locker.receiptId, locker.lockerId, token, token.slice(0, 20), locker.owner.identity]
    for (const secret of [...secrets, 'nobody-else-has', proof_id as string, snapshot_id as string])
      expect(text.includes(secret), secret).toBe(false)
    expect(/(rcpt|pr|req)_|locker_[0-9a-f]|nothing-here|%zz/.exec(text)).toBeNull()
    expect(value(COUNT, { route: '/f/:token', method: 'GET', status: '2xx' })).toBe(1)
    expect(value(COUNT, { route: '/v1/receipts/:receipt_id', method: 'HEAD', status: '2xx' })).toBe(1)
  })

  it('counts unknown paths and preflights as one route, and refusals by their status class', async () => {
    const before = await scrape(instance.gateway.url)
    for (const path of ['/nowhere', '/no/where', '/%zz']) await ask(path, 'GET')
    await ask('/v1/keys', 'OPTIONS')
    await ask('/v1/keys', 'POST')
    await ask(`/v1/receipts/rcpt_${'0'.repeat(32)}`, 'GET')
    const after = await scrape(instance.gateway.url)
    const grown = (route: string, method: string, status: string) =>
      (after.value(COUNT, { route, method, status }) ?? 0) - (before.value(COUNT, { route, method, status }) ?? 0)
    expect(grown('none', 'GET', '4xx')).toBe(3)
    expect(grown('none', 'OPTIONS', '2xx')).toBe(1)
    expect(grown('none', 'POST', '4xx')).toBe(1)
    expect(grown('/v1/receipts/:receipt_id', 'GET', '4xx')).toBe(1)
    expect(grown('/metrics', 'GET', '2xx')).toBe(1)
  })
})

forEachDatabase('many scrapes', (database) => {
  let instance: TestGateway
  beforeAll(async () => {
    instance = await openTestGateway({ DATABASE_URL: database.url })
    await instance.receipt(ed25519Identity())
  })
  afterAll(() => instance.close())

  it('reads the database once for thirty concurrent scrapes', async () => {
    const context = instance.gateway.context
    let queries = 0
    const counter: KyselyPlugin = {
      transformQuery({ node }) {
        queries++
        return node
      },
      transformResult: async ({ result }) => result,
    }
    let counts = 0
    const queue = {
      ...context.queue,
      counts() {
        counts++
        return context.queue.counts()
      },
    }
    const counted = {
      ...context,
      database: { ...context.database, db: writable(context.database.db).withPlugin(counter) },
      queue,
    }
    const metrics = createMetrics(counted)
    const texts = await Promise.all(Array.from({ length: 30 }, () => metrics.text()))
    for (const text of texts) expect(text).toContain('\nsvc_receipts_total 1\n')
    // Attestations, receipts, lockers, lockers over their terms, objects, moving objects, payments, watched quotes,
    // budgets, two kinds of deferrals, three queries about the log, and subqueries; the queue is counted once.
    expect([queries, counts]).toEqual([16, 1])
    await metrics.text()
    expect([queries, counts]).toEqual([16, 1])
    instance.clock.advance(LATER)
    await metrics.text()
    expect([queries, counts]).toEqual([32, 2])
  })
})

it('still serves the other metrics when the database is gone', async () => {
  const gateway = await startTestGateway()
  await gateway.context.database.close()
  const { families, value } = await scrape(gateway.url)
  expect(families).toContain('svc_http_request_duration_seconds')
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(1e6)
  for (const name of ['svc_receipts_total', 'svc_publications', 'svc_database_read_timestamp_seconds'])
    expect(families).not.toContain(name)
  await gateway.stop()
})
