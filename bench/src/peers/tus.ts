import { drainBytes, sendBytes, textOf } from '../bytes.ts'
import { startServer } from '../server-process.ts'
import { fourAtOnce, type Peer, partsOf } from './peer.ts'

const TUS = { 'tus-resumable': '1.0.0' }
const BYTES = { ...TUS, 'content-type': 'application/offset+octet-stream' }

export async function startTus(): Promise<Peer> {
  const server = await startServer('tus')
  /** The URLs that the server has assigned to the objects. */
  const urls = new Map<string, string>()

  async function create(name: string, length: number, headers: Record<string, string>, now: number): Promise<string> {
    const request = {
      url: `${server.url}/files`,
      method: 'POST',
      headers: { ...headers, 'upload-length': `${length}` },
    }
    const response = await sendBytes(request, now)
    await textOf(response)
    const url = server.url + new URL(response.headers.location as string, server.url).pathname
    urls.set(name, url)
    return url
  }

  const put = async (name: string, length: number) => void (await create(name, length, BYTES, length))

  /** Sends the parts in sequence, because its file store cannot join uploads. */
  async function putInParts(name: string, length: number): Promise<void> {
    const url = await create(name, length, TUS, 0)
    let offset = 0
    for (const { bytes } of partsOf(length)) {
      const headers = { ...BYTES, 'upload-offset': `${offset}` }
      await textOf(await sendBytes({ url, method: 'PATCH', headers }, bytes))
      offset += bytes
    }
  }

  return {
    name: 'tus-node-server',
    does: 'in the page cache, neither hashed nor flushed; its parts go one after the other',
    keepsRecords: true,
    server,
    put,
    putMany: (names, length) => fourAtOnce(names, (name) => put(name, length)),
    get: async (name) => void (await drainBytes(urls.get(name) as string)), // put before
    putInParts,
  }
}
