import { drainBytes, sendBytes, textOf } from '../bytes.ts'
import { lockerClient } from '../locker-client.ts'
import { startServer } from '../server-process.ts'
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

interface Confirmed {
  results: { ok: boolean }[]
}

/** The gateway with a local disk, used as our client uses it. */
export async function startOurs(): Promise<Peer> {
  const server = await startServer('lockers', { LOG_LEVEL: 'warn' })
  const { locker, call, confirm } = lockerClient(server)
  const base = `/v1/lockers/${locker.locker_id}`
  const here = (url: string) => server.url + new URL(url).pathname
  const downloads = new Map<string, string>()

  /** Signed. */
  async function create(names: readonly string[]): Promise<string[]> {
    const files = names.map((filename) => ({ filename, content_type: TYPE['content-type'] }))
    const body = JSON.stringify({ files })
    const made = await call<{ files: Urls[] }>({
      method: 'POST',
      path: `${base}/files/batch`,
      ops: ['locker:write'],
      body,
    })
    for (const [i, { download_url }] of made.files.entries()) downloads.set(names[i] as string, here(download_url))
    return made.files.map(({ upload_url }) => here(upload_url))
  }

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
    does: 'asked for with a signature, hashed with SHA-256 and flushed to disk',
    keepsRecords: true,
    server,
    async put(name, length) {
      const [url] = await create([name])
      await textOf(await sendBytes({ url: url as string, headers: TYPE }, length)) // one name, one URL
      await confirm(name)
    },
    async putMany(names, length) {
      const uploads = await create(names)
      await fourAtOnce(uploads, async (url) => void (await textOf(await sendBytes({ url, headers: TYPE }, length))))
      const body = JSON.stringify({ receipt_id: locker.receipt_id, filenames: names })
      const path = '/v1/files/confirm-batch'
      const { results } = await call<Confirmed>({ method: 'POST', path, ops: ['locker:write'], body })
      if (!results.every(({ ok }) => ok)) throw new Error(JSON.stringify(results))
    },
    get: async (name) => void (await drainBytes(downloads.get(name) as string)), // put before
    putInParts,
  }
}
