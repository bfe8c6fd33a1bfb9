// @module-tag nightly

import type { InclusionProof, RecomputeVerify } from '@svc/api/proofs'
import { foldProof, leafHash } from '@svc/protocol/merkle'
import { beforeEach, expect, it } from 'vitest'
import { publicBytes } from '../../adapters/http/sessions/sessions.ts'
import { attest } from '../../evidence/attest.ts'
import { entryOf } from '../confirm/confirm.ts'
import { deliveryGateway, hex } from './delivery-gateway.ts'

const BYTES = 'bytes that take their time'
const ENTRY = { filename: 'a', size_bytes: BYTES.length, content_hash: `sha256:${hex(BYTES)}` }
const { stages, instance, locker } = deliveryGateway(() => ({ ATTEST_CHECK_MODE: 'bytes_hashed' }))
let statements: number
beforeEach(async () => {
  await locker.put('a', BYTES)
  statements = 0
})

const query = (more = {}) => new URLSearchParams({ receipt_id: locker.receiptId, ...more })
const read = <Body>(path: string, more = {}) => instance.send<Body>('GET', `/v1/storage/${path}?${query(more)}`)

async function expectAllWorks(): Promise<void> {
  // This is longer than a recomputation stays in the cache.
  instance.clock.advance(61)
  // A new file causes a new statement.
  await locker.put(`new ${++statements}`, `new ${statements}`)
  const { attestation } = await attest(instance, locker)
  expect(attestation).toMatchObject({ evidence_seq: statements, file_count: statements + 1, files_skipped: 0 })
  const { body: proof } = await read<InclusionProof>('merkle-proof', { filename: 'a' })
  expect(`sha256:${foldProof(leafHash(ENTRY), proof.proof)}`).toBe(attestation.merkle_root)
  const { body: recomputed } = await read<RecomputeVerify>('recompute-verify')
  expect(recomputed).toMatchObject({ match: true, cached: false, missing: [], mismatched: [] })
  expect((await publicBytes(instance, locker, 'a')).toString()).toBe(BYTES)

  const { body: urls } = await locker.call<{ download_url: string }>(['locker:read'], 'GET', '/files/a')
  const url = instance.gateway.url + new URL(urls.download_url).pathname
  const part = await fetch(url, { headers: { range: 'bytes=6-9' } })
  const range = [206, `bytes 6-9/${BYTES.length}`, 'that']
  expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual(range)
  const head = await fetch(url, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(BYTES.length)])
  const again = await fetch(url, { headers: { 'if-none-match': head.headers.get('etag')! } })
  expect(again.status).toBe(304)
}

it('ATT-05 MERK-17 a file is readable and attestable before, during and after its delivery', async () => {
  await expectAllWorks()

  const sending = instance.server.holdUp(hex(BYTES), 'sending')
  const confirming = instance.server.holdUp(hex(BYTES), 'looking')
  const draining = instance.gateway.context.queue.drain()
  await sending.reached
  expect((await entryOf(locker, 'a'))?.provider_ref).toBeUndefined()
  await expectAllWorks()

  sending.release()
  await confirming.reached
  expect((await entryOf(locker, 'a'))?.provider_ref).toEqual(expect.any(String))
  await expectAllWorks()

  confirming.release()
  await draining
  await instance.later(0)
  expect(await stages.staged()).toEqual([])
  await expectAllWorks()
})

it('T-139 a provider that does not return a delivered object is a storage error, not a loss', async () => {
  await instance.later(0)
  stages.server.isDown = true
  const link = await fetch(`${instance.gateway.url}/v1/r/${locker.receiptId}/f/a`)
  expect([link.status, ((await link.json()) as { error: string }).error]).toEqual([503, 'STORAGE_UNAVAILABLE'])
  stages.server.isDown = false
  await expectAllWorks()
})
