// @module-tag nightly

import { randomBytes } from 'node:crypto'
import { forEachDatabase } from '@svc/devnet/databases'
import { ed25519Identity, type TestGateway } from '@svc/devnet/services/test-gateway'
import { Upload } from 'tus-js-client'
import { expect, it, onTestFinished } from 'vitest'
import { startGatewayProcess } from '../../gateway-process.ts'
import { newFolder } from '../http/object-stores.ts'
import { publicBytes } from '../http/sessions/sessions.ts'
import { sha256 } from '../http/transfers.ts'
import { openS3Gateway } from '../s3/s3-gateway.ts'
import { openSwitchableProxy } from './switchable-proxy.ts'
import { CHUNK, create, creationHeaders, send, tusToken } from './uploads.ts'

const MB = 1_000_000

forEachDatabase('tus uploads', (database) => {
  it('T-98 ADD-46 acknowledged bytes survive kill -9, and a stock client resumes after them', async () => {
    const folder = await newFolder()
    const proxy = await openSwitchableProxy()
    onTestFinished(proxy.close)
    const variables = { DATABASE_URL: database.url, DATA_DIR: folder, BASE_URL: proxy.url }
    const first = await openS3Gateway(variables)
    const locker = await first.locker(ed25519Identity())
    const token = await tusToken(locker)
    await first.close()
    const program = await startGatewayProcess({ LOCAL_PROVIDERS: 'gcs', RUN_JOBS: 'false', ...variables })
    proxy.target = program.url
    let successor: TestGateway | null = null
    onTestFinished(() => successor?.close())
    const bytes = randomBytes(20 * MB)
    let acknowledged = 0
    const resumedAt: number[] = []
    await new Promise<void>((resolve, reject) => {
      const client = new Upload(bytes, {
        endpoint: `${proxy.url}/v1/lockers/${locker.lockerId}/tus`,
        headers: { 'X-Upload-Token': token },
        metadata: { filename: 'survivor', expected_hash: sha256(bytes) },
        chunkSize: 3 * MB,
        retryDelays: Array(200).fill(100),
        // While the gateway is down, a client may get another failure than a broken connection: retry those too.
        onShouldRetry: () => true,
        onChunkComplete(_size, accepted) {
          if (successor || acknowledged >= 6 * MB) return
          acknowledged = accepted
          if (acknowledged < 6 * MB) return
          void program
            .kill()
            .then(() => openS3Gateway(variables))
            .then((instance) => {
              successor = instance
              proxy.target = instance.gateway.url
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
    expect(await publicBytes(successor as unknown as TestGateway, locker, 'survivor')).toEqual(bytes)
  })

  it('T-98 ADD-46 two gateways accept the chunks of one upload in turn, and of two concurrent chunks one counts', async () => {
    const folder = await newFolder()
    const variables = { DATABASE_URL: database.url, DATA_DIR: folder, BASE_URL: 'https://gateway.example' }
    const instances = [await openS3Gateway(variables), await openS3Gateway(variables)] as const
    onTestFinished(async () => {
      for (const instance of instances) await instance.close()
    })
    const locker = await instances[0].locker(ed25519Identity())
    const bytes = randomBytes(20 * MB)
    const { url } = await create(
      instances[0],
      locker,
      await tusToken(locker),
      creationHeaders(bytes.length, { filename: 'shared' }),
    )
    const at = (i: number) => instances[i % 2]!.gateway.url + new URL(url).pathname
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
    expect(await publicBytes(instances[0], locker, 'shared')).toEqual(bytes)
  })
})
