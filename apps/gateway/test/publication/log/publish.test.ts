import { readdir } from 'node:fs/promises'
import type { LogState, LogStatements } from '@svc/api/log'
import { forEachDatabase } from '@svc/devnet/databases'
import { ed25519Identity, expectRefusal, openTestGateway, type TestGateway } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { fromHex, toHex } from '@svc/protocol/bytes'
import { formatKey } from '@svc/protocol/transparency/note'
import { isProvenEntry, readProof } from '@svc/protocol/transparency/proof'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { attest } from '../../evidence/attest.ts'
import { addStatements, logReader } from './log-reader.ts'

forEachDatabase('the log', (database) => {
  let instance: TestGateway
  beforeAll(async () => {
    instance = await openTestGateway({ DATABASE_URL: database.url })
  })
  afterAll(() => instance.close())

  const context = () => instance.gateway.context
  const db = () => instance.gateway.context.database.db
  const reader = () => logReader(instance.gateway.url, context().logIdentity.key)
  const get = (path: string) => fetch(instance.gateway.url + path)

  it('LOG-10 LOG-12 contains every statement in the order of its transaction, and reveals no receipt', async () => {
    const start = (await context().publishedLog.newest())?.size ?? 0
    const lockers = [await instance.locker(ed25519Identity()), await instance.locker(ed25519Identity())]
    const digests: string[] = []
    for (const text of ['1', '2']) {
      for (const locker of lockers) {
        await locker.put('a', text)
        digests.push((await attest(instance, locker)).attestation.envelope!.statement_digest)
      }
      await context().publishLog()
    }
    // A record of the oracle era has no digest.
    const old = { receipt_id: 'rcpt_old', sequence: 0, locker_id: 'old', snapshot_key: 'old', record: '{}' }
    await writable(db())
      .insertInto('statements')
      .values({ ...old, statement_digest: null, anchor: null, issued_at: 0 })
      .execute()
    expect(await context().publishLog()).toBe(false)

    const head = await reader().head()
    expect((await reader().entries(head)).slice(start)).toEqual(digests)
    const state = await instance.send<LogState>('GET', '/v1/log')
    expect(state.body).toMatchObject({
      origin: context().logIdentity.key.name,
      vkey: formatKey(context().logIdentity.key),
      size: start + 4,
      root: toHex(head.root),
    })

    const first = await instance.send<LogStatements>('GET', `/v1/log/statements?from=${start}&limit=3`)
    expect(first.body).toMatchObject({ size: start + 4, next: start + 3 })
    const last = await instance.send<LogStatements>('GET', `/v1/log/statements?from=${start + 3}`)
    const entries = [...first.body.entries, ...last.body.entries]
    expect(last.body.next).toBeNull()
    const listed = entries.map(({ index, envelope }) => [index, envelope?.statement_digest])
    expect(listed).toEqual(digests.map((digest, i) => [start + i, digest]))
    expect(JSON.stringify(entries)).not.toContain('rcpt_')
    expect((await instance.send<LogStatements>('GET', `/v1/log/statements?from=${start + 4}`)).body.entries).toEqual([])

    for (const [index, digest] of digests.entries()) {
      const response = await get(`/v1/log/proof?statement_digest=${digest}`)
      expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
      const proof = readProof(await response.text())
      if (typeof proof === 'string') throw new Error(proof)
      expect([proof.index, isProvenEntry(proof, fromHex(digest) as Uint8Array)]).toEqual([start + index, true])
      expect(isProvenEntry(proof, fromHex(digests[0]!) as Uint8Array)).toBe(index === 0)
    }
    expectRefusal(await instance.send('GET', `/v1/log/proof?statement_digest=${'0'.repeat(64)}`), 404, 'not_in_log')
    expectRefusal(await instance.send('GET', '/v1/log/proof?statement_digest=x'), 422, 'validation_error')
  })

  it('LOG-13 grows by thousands per checkpoint, and each checkpoint extends the previous one', async () => {
    await addStatements(db(), 1)
    await context().publishLog()
    const start = await reader().head()
    const added = await addStatements(db(), 20_500, 7)
    const heads = [start]
    let isMore = true
    while (isMore) {
      isMore = await context().publishLog()
      heads.push(await reader().head())
    }
    expect(heads.map(({ size }) => size - start.size)).toEqual([0, 10_000, 20_000, 20_500])
    for (const [i, head] of heads.slice(1).entries()) await reader().expectGrown(heads[i]!, head)
    expect((await reader().entries(heads.at(-1)!)).slice(start.size)).toEqual(added)
    const proof = readProof(await (await get(`/v1/log/proof?statement_digest=${added[9999]}`)).text())
    if (typeof proof === 'string') throw new Error(proof)
    expect(isProvenEntry(proof, fromHex(added[9999]!) as Uint8Array)).toBe(true)
  })

  it('LOG-14 has one writer among all replicas, and a replica with its own folder serves the same log', async () => {
    const replica = await openTestGateway({ DATABASE_URL: database.url, LOG_STORE: '' })
    try {
      const other = replica.gateway.context
      expect(other.logIdentity).toEqual({ ...context().logIdentity, signer: expect.anything() })
      for (let round = 0; round < 5; round++) {
        await Promise.all([addStatements(db(), 30), other.publishLog(), context().publishLog(), other.publishLog()])
      }
      await context().publishLog()
      await other.publishLog()
      const heads = [await reader().head(), await logReader(replica.gateway.url, other.logIdentity.key).head()]
      expect(heads[1]).toEqual(heads[0])
      const rows = await db().selectFrom('log_entries').select('entry_index').orderBy('entry_index').execute()
      expect(rows.map(({ entry_index }) => entry_index)).toEqual(rows.map((_, i) => i))
      expect(await reader().entries(heads[0]!)).toHaveLength(rows.length)
    } finally {
      await replica.close()
    }
  })
})

describe('the tiles of a log of 304 entries', () => {
  let instance: TestGateway
  beforeAll(async () => {
    instance = await openTestGateway()
    const empty = await instance.send<LogState>('GET', '/v1/log')
    expect(empty.body).toMatchObject({ size: 0, root: null, checkpoint_at: null, witnesses: [] })
    expectRefusal(await instance.send('GET', '/log/checkpoint'), 404, 'not_in_log')
    await addStatements(instance.gateway.context.database.db, 304)
    await instance.gateway.context.publishLog()
  })
  afterAll(() => instance.close())
  const get = (path: string, headers: Record<string, string> = {}) => fetch(instance.gateway.url + path, { headers })

  it('LOG-11 are served as immutable, and checkpoints for seconds, to pages of any origin', async () => {
    const checkpoint = await get('/log/checkpoint', { origin: 'https://reader.example' })
    const headers = Object.fromEntries(checkpoint.headers)
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'public, max-age=2',
      'access-control-allow-origin': '*',
    })
    const again = await get('/log/checkpoint', { 'if-none-match': headers.etag! })
    expect([again.status, await again.text()]).toEqual([304, ''])

    const full = await get('/log/tile/0/000')
    const bytes = Buffer.from(await full.arrayBuffer())
    expect(Object.fromEntries(full.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '8192',
      'cache-control': 'public, max-age=31536000, immutable',
      'access-control-allow-origin': '*',
      etag: '"0/000"',
    })
    expect((await get('/log/tile/0/000', { 'if-none-match': '"0/000"' })).status).toBe(304)
    const asked = await fetch(`${instance.gateway.url}/log/tile/0/001.p/48`, { method: 'HEAD' })
    expect([asked.status, asked.headers.get('content-length')]).toEqual([200, `${48 * 32}`])
    // The partial tile of an earlier checkpoint is a prefix of the present tile.
    const part = Buffer.from(await (await get('/log/tile/0/000.p/7')).arrayBuffer())
    expect(part.equals(bytes.subarray(0, 7 * 32))).toBe(true)
    const bundle = Buffer.from(await (await get('/log/tile/entries/001.p/3')).arrayBuffer())
    expect(bundle.length).toBe(3 * 34)

    const { folder } = instance.gateway.context.config.transparency
    expect((await readdir(`${folder}/tile/0/001.p`)).sort()).toEqual(['48'])
  })

  it.each([
    ['0/002', 'beyond the size'],
    ['0/001', 'not full yet'],
    ['0/001.p/49', 'wider than the tile'],
    ['1/001', 'beyond the level'],
    ['entries/001.p/49', 'entries beyond the size'],
    ['0/000/..%2f..%2f..%2flog.key', 'a path traversal'],
    ['0/%00', 'a null byte'],
    ['checkpoint', 'not a tile'],
  ])('LOG-11 do not include %s: %s', async (path) => {
    const { status, body } = await instance.send<{ error: string }>('GET', `/log/tile/${path}`)
    expect([400, 404, 422]).toContain(status)
    expect(['not_in_log', 'validation_error', 'malformed_request']).toContain(body.error)
  })
})
