import { Readable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  ed25519Identity,
  expectRefusal,
  type LockerHouse,
  openLockerHouse,
  type TestLocker,
} from '../../auth/lockers.ts'
import { storeFile } from '../files.ts'
import { confirm, entryOf, manifestOf, sha256, watchedStorage } from './confirm.ts'

const storage = await watchedStorage()
/** The ids of objects that clients were redirected to, in order. */
const sent: string[] = []
let house: LockerHouse
let locker: TestLocker

beforeAll(async () => {
  const named = (name: string) => ({
    ...storage.providers.named(name),
    uploadTarget: async (id: string) => {
      sent.push(id)
      return { url: `https://provider.example/${id}`, headers: {} }
    },
  })
  house = await openLockerHouse({}, { providers: { ...storage.providers, named } })
})
afterAll(async () => {
  await house.close()
  await storage.remove()
})
beforeEach(async () => {
  locker = await house.locker(ed25519Identity())
})

/** Asks for an upload address. Returns the id of the new object. */
async function beginUpload(filename: string, expected_hash?: string): Promise<string> {
  const order = { filename, ...(expected_hash && { expected_hash }) }
  const { body } = await locker.call<{ upload_url: string }>(['locker:write'], 'POST', '/files', order)
  const headers = { 'content-type': 'application/octet-stream' }
  const url = house.gateway.url + new URL(body.upload_url).pathname
  const answer = await fetch(url, { method: 'PUT', headers, body: 'not read', redirect: 'manual' })
  expect(answer.status).toBe(307)
  return sent.at(-1) as string
}

const uploadTo = (id: string, bytes: string) =>
  storage.providers.named('gcs').write(id, Readable.from([Buffer.from(bytes)]), { contentType: 'x/y', size: null })

describe('bytes that a client uploaded straight to the provider', () => {
  it('FILE-22 FILE-24 bytes uploaded straight to the provider are recorded once they exist', async () => {
    const id = await beginUpload('f')
    expectRefusal(await confirm(house, locker, 'f'), 404, 'CONTENT_NOT_FOUND')
    await uploadTo(id, 'bytes')
    expect((await confirm(house, locker, 'f')).body).toMatchObject({ size_bytes: 5, content_hash: sha256('bytes') })
  })

  it('AMB-24 AMB-58 bytes uploaded straight to the provider replace the confirmed ones once they exist', async () => {
    await uploadTo(await beginUpload('f'), 'old')
    const first = await confirm(house, locker, 'f')
    const id = await beginUpload('f')
    expect((await confirm(house, locker, 'f')).body).toEqual(first.body)
    await uploadTo(id, 'newer')
    expect((await confirm(house, locker, 'f')).body).toMatchObject({ size_bytes: 5, content_hash: sha256('newer') })
    expect((await manifestOf(locker)).total_bytes).toBe(5)
  })

  it('AMB-58 confirmed bytes are not read again while a direct upload is awaited', async () => {
    await storeFile(house, locker, 'f', 'known')
    await beginUpload('f')
    const reads = storage.reads.length
    expect((await confirm(house, locker, 'f')).body).toMatchObject({ content_hash: sha256('known') })
    expect(storage.reads).toHaveLength(reads)
  })

  it('FILE-23 bytes uploaded straight to the provider are compared with their expected hash', async () => {
    await uploadTo(await beginUpload('f', sha256('right')), 'wrong')
    expectRefusal(await confirm(house, locker, 'f'), 409, 'HASH_MISMATCH')
    expect(await entryOf(locker, 'f')).toMatchObject({ content_hash: null })
  })

  it('T-10 T-17 concurrent confirmations adopt a direct upload once', async () => {
    await uploadTo(await beginUpload('f'), 'bytes')
    const answers = await Promise.all(Array.from({ length: 20 }, () => confirm(house, locker, 'f')))
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.content_hash}`))).toEqual(
      new Set([`200 ${sha256('bytes')}`]),
    )
    expect((await manifestOf(locker)).total_bytes).toBe(5)
  })
})
