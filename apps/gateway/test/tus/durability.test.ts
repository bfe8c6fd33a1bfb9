// @module-tag nightly

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testClock } from '@svc/devnet/clock'
import { forEachDatabase } from '@svc/devnet/databases'
import type { Variables } from '@svc/http-service/config'
import { startTestGateway } from '@svc/testbed/gateway'
import { Upload } from 'tus-js-client'
import { expect, it, onTestFinished } from 'vitest'
import { ed25519Identity, houseOf, type LockerHouse } from '../auth/lockers.ts'
import { startGatewayProcess } from '../gateway-process.ts'
import { stores } from '../transfers/object-stores.ts'
import { publicBytes } from '../transfers/sessions/sessions.ts'
import { sha256 } from '../transfers/transfers.ts'
import { openLine } from './line.ts'
import { CHUNK, create, metadata, send, tusToken } from './uploads.ts'

const MB = 1_000_000

/** By the real clock, as the program that is killed has it. */
async function openHouse(variables: Variables): Promise<LockerHouse> {
  const clock = testClock(Date.now())
  return houseOf(await startTestGateway(variables, { now: clock.now }), clock)
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-tus-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

forEachDatabase('tus uploads', (database) => {
  it('T-99 ADD-46 after kill -9 what was acknowledged is there, and a stock client goes on from it', async () => {
    const folder = await newFolder()
    const line = await openLine()
    onTestFinished(line.close)
    const variables = { DATABASE_URL: database.url, DATA_DIR: folder, BASE_URL: line.url }
    const first = await openHouse(variables)
    const locker = await first.locker(ed25519Identity())
    const token = await tusToken(locker)
    await first.close()
    const program = await startGatewayProcess({ LOCAL_PROVIDERS: 'gcs', RUN_JOBS: 'false', ...variables })
    line.target = program.url
    let successor: LockerHouse | null = null
    onTestFinished(() => successor?.close())
    const bytes = randomBytes(20 * MB)
    let acknowledged = 0
    const resumedAt: number[] = []
    await new Promise<void>((resolve, reject) => {
      const client = new Upload(bytes, {
        endpoint: `${line.url}/v1/lockers/${locker.lockerId}/tus`,
        headers: { 'X-Upload-Token': token },
        metadata: { filename: 'survivor', expected_hash: sha256(bytes) },
        chunkSize: 3 * MB,
        retryDelays: Array(200).fill(100),
        // Not while it is down: a client may see another failure than a broken connection then.
        onShouldRetry: () => true,
        onChunkComplete(_size, accepted) {
          if (successor || acknowledged >= 6 * MB) return
          acknowledged = accepted
          if (acknowledged < 6 * MB) return
          void program
            .kill()
            .then(() => openHouse(variables))
            .then((house) => {
              successor = house
              line.target = house.gateway.url
            })
            .catch(reject)
        },
        onAfterResponse(request, response) {
          if (request.getMethod() === 'HEAD') resumedAt.push(Number(response.getHeader('Upload-Offset')))
        },
        onError: reject,
        onSuccess: () => resolve(),
      })
      client.start()
    })
    expect(resumedAt.every((offset) => offset >= acknowledged)).toBe(true)
    expect(resumedAt.length).toBeGreaterThan(0)
    expect(await publicBytes(successor as unknown as LockerHouse, locker, 'survivor')).toEqual(bytes)
  })

  it('T-99 ADD-46 two gateways take the chunks of one upload in turn, and of two at once one counts', async () => {
    const folder = await newFolder()
    const variables = { DATABASE_URL: database.url, DATA_DIR: folder, BASE_URL: 'https://gateway.example' }
    const houses = [await openHouse(variables), await openHouse(variables)] as const
    onTestFinished(async () => {
      for (const house of houses) await house.close()
    })
    const locker = await houses[0].locker(ed25519Identity())
    const bytes = randomBytes(20 * MB)
    const length = { 'upload-length': `${bytes.length}`, ...metadata({ filename: 'shared' }) }
    const { url } = await create(houses[0], locker, await tusToken(locker), length)
    const at = (i: number) => houses[i % 2]!.gateway.url + new URL(url).pathname
    const patch = (i: number, offset: number, chunk: Uint8Array) =>
      send(at(i), 'PATCH', { ...CHUNK, 'upload-offset': `${offset}` }, chunk)
    let offset = 0
    for (let i = 0; offset < 9 * MB; i++) {
      const reply = await patch(i, offset, bytes.subarray(offset, offset + 1_500_000))
      expect(reply.status, reply.text).toBe(204)
      offset = Number(reply.headers['upload-offset'])
      expect((await send(at(i + 1), 'HEAD')).headers['upload-offset']).toBe(`${offset}`)
    }
    const chunk = bytes.subarray(offset, offset + MB)
    const both = await Promise.all([patch(0, offset, chunk), patch(1, offset, chunk)])
    expect(both.map(({ status }) => status).sort()).toEqual([204, 409])
    await new Promise<void>((resolve, reject) => {
      const onSuccess = () => resolve()
      new Upload(bytes, { uploadUrl: at(1), chunkSize: 4 * MB, retryDelays: [], onError: reject, onSuccess }).start()
    })
    expect(await publicBytes(houses[0], locker, 'shared')).toEqual(bytes)
  })
})

it.each(Object.keys(stores))(
  'T-99 ADD-46 %s takes an upload in chunks of any size, also while the memory for blocks is in use',
  async (provider) => {
    const { GCS_REDIRECT: _, STORJ_REDIRECT: _off, ...variables } = await stores[provider]!()
    const house = await openHouse({ ...variables, LOCAL_PROVIDERS: '' })
    onTestFinished(() => house.close())
    const locker = await house.locker(ed25519Identity(), { provider })
    const token = await tusToken(locker)
    const bytes = randomBytes(18 * MB + 17)
    const upload = async (filename: string, sizes: readonly number[]) => {
      const deferred = { 'upload-defer-length': '1', ...metadata({ filename, expected_hash: sha256(bytes) }) }
      const made = await create(house, locker, token, deferred)
      let offset = 0
      for (const size of sizes) {
        const chunk = bytes.subarray(offset, offset + size)
        const isLast = offset + chunk.length === bytes.length
        const known = isLast ? { 'upload-length': `${bytes.length}` } : undefined
        const reply = await made.patch(offset, chunk, known)
        expect(reply.status, reply.text).toBe(204)
        offset += chunk.length
      }
      expect(await publicBytes(house, locker, filename)).toEqual(bytes)
    }
    await upload('chunks', [1, 3 * MB, 9 * MB, 18 * MB])
    const held: (() => void)[] = []
    const { takeBuffer } = house.gateway.rooms.tus
    for (let release = takeBuffer(); release; release = takeBuffer()) held.push(release)
    await upload('streamed', [5 * MB, 18 * MB])
    for (const release of held) release()
  },
)
