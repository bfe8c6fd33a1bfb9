import { drainBytes, sendBytes, textOf } from '../bytes.ts'
import { lockerClient } from '../locker-client.ts'
import { startLockerProgram } from '../locker-program.ts'
import { presign } from '../presign.ts'
import { bucketOf } from '../s3-bucket.ts'
import { fourAtOnce, type Peer, partsOf } from './peer.ts'

const TYPE = { 'content-type': 'application/octet-stream' }

interface Urls {
  upload_url: string
  download_url: string
}

interface Session {
  session_id: string
  upload_token: string
  files: [{ parts_url: string }]
}

/** The gateway with a local disk, called as the project's client calls it. */
export async function startOurs(): Promise<Peer> {
  const server = await startLockerProgram({ S3: 'on' })
  const place = await bucketOf(server)
  const { locker, call, confirm } = lockerClient(server)
  const base = `/v1/lockers/${locker.locker_id}`
  const here = (url: string) => server.url + new URL(url).pathname
  const downloads = new Map<string, string>()

  const urlsOf = (name: string) =>
    call<Urls>({
      method: 'POST',
      path: `${base}/files`,
      ops: ['locker:write'],
      body: JSON.stringify({ filename: name, content_type: TYPE['content-type'] }),
    })

  async function putInParts(filename: string, length: number): Promise<void> {
    const body = JSON.stringify({ receipt_id: locker.receipt_id, files: [{ filename, size_bytes: length }] })
    const path = `${base}/upload-sessions`
    const session = await call<Session>({ method: 'POST', path, ops: ['locker:write'], body })
    const headers = { ...TYPE, 'x-upload-token': session.upload_token }
    const parts = here(session.files[0].parts_url)
    await fourAtOnce(partsOf(length), async ({ index, bytes }) => {
      await textOf(await sendBytes({ url: `${parts}?index=${index}`, method: 'POST', headers }, bytes))
    })
    const url = `${server.url}/v1/upload-sessions/${session.session_id}/finalize`
    await textOf(await sendBytes({ url, method: 'POST', headers: { 'x-upload-token': session.upload_token } }, 0))
  }

  return {
    name: 'this gateway',
    does: 'requested with a signature, hashed with SHA-256 and flushed to disk',
    keepsRecords: true,
    server,
    async put(name, length) {
      const { upload_url, download_url } = await urlsOf(name)
      downloads.set(name, here(download_url))
      await textOf(await sendBytes({ url: here(upload_url), headers: TYPE }, length))
      await confirm(name)
    },
    // One signed request for each object, as the peers need one request each.
    putMany: (names, length) =>
      fourAtOnce(names, async (name) => {
        downloads.set(name, presign(place, 'GET', name))
        await textOf(await sendBytes({ url: presign(place, 'PUT', name), headers: TYPE }, length))
      }),
    get: async (name) => void (await drainBytes(downloads.get(name) as string)), // put before
    putInParts,
  }
}
