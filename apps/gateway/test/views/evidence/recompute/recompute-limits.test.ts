import type { RecomputeVerify } from '@svc/api/proofs'
import { expectRefusal } from '@svc/devnet/services/test-gateway'
import { afterEach, expect, it } from 'vitest'
import { type WatchedStorage, watchedStorage } from '../../../files/confirm/confirm.ts'
import { type EvidenceGateway, type FilledLocker, openEvidenceGateway } from '../evidence-gateway.ts'

const RECOMPUTE = '/v1/storage/recompute-verify'
const MIB = 1_048_576

let instance: EvidenceGateway
let storage: WatchedStorage
async function open(variables: Record<string, string> = {}) {
  storage = await watchedStorage()
  instance = await openEvidenceGateway(variables, { providers: storage.providers })
}
async function attested(files: Record<string, string>): Promise<FilledLocker> {
  const locker = await instance.filled(files)
  await instance.state(locker)
  return locker
}
function holdReads(count: number) {
  const blocked = Array.from({ length: count }, () => storage.holdRead())
  return {
    began: Promise.all(blocked.map(({ began }) => began)),
    release: () => blocked.map(({ release }) => release()),
  }
}
const ask = (locker: FilledLocker) => instance.read<RecomputeVerify>(RECOMPUTE, { receipt_id: locker.receipt_id })

afterEach(async () => {
  await instance.close()
  await storage.remove()
})

it('VER-18 T-10 recompute-verify reads the files of a receipt once for concurrent requests, bypassing the hash cache', {
  tags: ['nightly'],
}, async () => {
  await open()
  const locker = await attested({ 'a.txt': 'one', 'b.txt': 'two' })
  const before = storage.reads.length
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(locker)))
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
  expect(storage.reads.length - before).toBe(2)
})

it('VER-18 T-10 recompute-verify reads four lockers concurrently, and asks other callers to retry later', {
  tags: ['nightly'],
}, async () => {
  await open()
  const lockers: FilledLocker[] = []
  for (const name of ['a', 'b', 'c', 'd', 'e']) lockers.push(await attested({ [name]: name }))
  const blocked = holdReads(4)
  const first = lockers.slice(0, 4).map(ask)
  await blocked.began
  const refused = await ask(lockers[4]!)
  expectRefusal(refused, 429, 'RATE_LIMITED')
  expect(refused.headers.get('retry-after')).toBe('10')
  blocked.release()
  expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect((await ask(lockers[4]!)).status).toBe(200)
})

it('T-139 GEN-11 recompute-verify answers 503 without details when the provider fails, and does not cache that', {
  tags: ['nightly'],
}, async () => {
  await open()
  const locker = await attested(Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`${i}.txt`, 'x'])))
  const before = storage.reads.length
  storage.failRead()
  const blocked = holdReads(7)
  const asked = ask(locker)
  await blocked.began
  blocked.release()
  const failed = await asked
  expectRefusal(failed, 503, 'STORAGE_UNAVAILABLE')
  expect(JSON.stringify(failed.body)).not.toMatch(/provider is down|gcs/)
  expect((await ask(locker)).body).toMatchObject({ match: true, cached: false })
  // The first run stops after the eight reads that were in progress when one failed.
  expect(storage.reads.length - before).toBe(8 + 16)
})

it('VER-18 recompute-verify reads the new bytes of a file that is replaced during the check', async () => {
  await open()
  const locker = await attested({ 'a.txt': 'one' })
  const blocked = holdReads(1)
  const asked = ask(locker)
  await blocked.began
  await locker.put('a.txt', 'another', { confirm: false })
  const { db } = instance.gateway.context.database
  const released = await db.selectFrom('objects').selectAll().where('state', '=', 'released').executeTakeFirstOrThrow()
  await storage.providers.named('gcs').remove({ id: released.object_id, ref: null })
  blocked.release()
  expect((await asked).body).toMatchObject({ match: false, mismatched: ['a.txt'], missing: [] })
})

it.each<[string, string, Record<string, string>, Record<string, string>]>([
  ['more bytes than the gateway reads', String(MIB), { 'a.txt': 'x'.repeat(MIB + 1) }, {}],
  ['more files than the gateway reads', '65536', { 'a.txt': 'a', 'b.txt': 'b' }, {}],
  ['a file that has grown since it was attested', String(MIB), { 'a.txt': 'small' }, { 'a.txt': 'x'.repeat(MIB + 1) }],
])(
  'VER-18 T-10 recompute-verify refuses a locker with %s, with a hint and without reading anything',
  { tags: ['nightly'] },
  async (_, bytes, files, later) => {
    await open({ FILE_LIMITS: `recompute_bytes=${bytes}` })
    const locker = await attested(files)
    for (const [name, bytes] of Object.entries(later)) await locker.put(name, bytes)
    const before = storage.reads.length
    const refused = await instance.read<{ hint: string }>(RECOMPUTE, { receipt_id: locker.receipt_id })
    expectRefusal(refused, 429, 'RATE_LIMITED')
    expect(refused.body.hint).toContain('evidence bundle')
    expect(refused.headers.get('retry-after')).toBeNull()
    expect(storage.reads).toHaveLength(before)
  },
)
