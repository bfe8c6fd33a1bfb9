import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { forAllTests } from '@svc/devnet/for-tests'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { compareCodePoints } from '@svc/protocol/order'
import { expect, it } from 'vitest'
import { beginRaw, callRaw, insertFiles } from '../files.ts'

const COUNT = 20_000
/** The names together exceed the buffers between the gateway and a client that does not read. */
const LONG = 'x'.repeat(400)
const KINDS = ['', 'a/', '\u00e9', '\uffff', '\u{1f600}']
const LAST = '\u{10ffff}'
const names = Array.from({ length: COUNT }, (_, i) => `${KINDS[i % KINDS.length]}${i}-${LONG}`).toSorted(
  compareCodePoints,
)
const owner = ed25519Identity()
let nonces = 0

/** Each token uses one nonce of 8 bytes. */
function countingBytes(length: number): Uint8Array {
  if (length === 8) nonces++
  return randomBytes(length)
}

const withBytes = (i: number) => ({ object_id: `${i}`.padStart(32, '0') })

const instance = forAllTests(() => openTestGateway({}, { randomBytes: countingBytes }))
const locker = forAllTests(async () => {
  const made = await instance.locker(owner)
  await insertFiles(instance, made, names, (i) => (i % 10 === 0 ? withBytes(i) : {}))
  return made
})

const OPS = ['locker:read', 'locker:list']
const signed = (path: string, { lockerId } = locker, method = 'GET') => ({
  method,
  path: `/v1/lockers/${lockerId}${path}`,
  ops: OPS,
  lockerId,
})

function begin(path: string, from = locker): Promise<IncomingMessage> {
  const call = signed(path, from)
  return beginRaw(instance, 'GET', call.path, instance.sign(owner, call).headers)
}

interface Files {
  files: { filename: string }[]
}
const namesOf = ({ files }: Files) => files.map(({ filename }) => filename)
/** Reads the list while a file is added after its first bytes were sent. */
async function readDuringChange(path: string) {
  const answer = await begin(path)
  await once(answer.pause(), 'readable')
  const first = answer.read() as Buffer
  await insertFiles(instance, locker, [LAST])
  const list = JSON.parse(first + (await text(answer)))
  await locker.call(['locker:write'], 'DELETE', `/files/${encodeURIComponent(LAST)}`)
  return list
}

it('FILE-13 a long list is streamed before all of it is read', async () => {
  expect(namesOf(await readDuringChange('/files')).at(-1)).toBe(LAST)
})

it('FILE-18 a manifest that changes while it is read reports the change', { tags: ['nightly'] }, async () => {
  const { file_count, files, changed_while_reading } = await readDuringChange('/manifest')
  expect([file_count, files.length, changed_while_reading]).toEqual([COUNT, COUNT + 1, true])
})

it('LOCK-13 no URLs are signed for a client that has disconnected or sent HEAD', { tags: ['nightly'] }, async () => {
  const full = await instance.locker(owner)
  await insertFiles(instance, full, names, withBytes)
  const before = nonces
  const head = await callRaw(instance, owner, signed('/urls', full, 'HEAD'))
  expect([head.status, head.text, nonces - before]).toEqual([200, '', 0])
  const answer = await begin('/urls', full)
  for await (const chunk of answer) if (String(chunk).includes('download_url')) break
  // A gateway that continued would sign sixteen URLs in each turn of its event loop.
  for (let turn = 0; turn < COUNT / 10; turn++) await setImmediate()
  expect(nonces - before).toBeGreaterThan(0)
  expect(nonces - before).toBeLessThan(COUNT)
})
