import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import { textOf } from './bytes.ts'
import type { ServerProcess } from './server-process.ts'
import { type BenchLocker, requestSigner, type SignedRequest } from './signed-requests.ts'

/** Signed calls to the first locker of a bench gateway. */
export function lockerClient(server: ServerProcess) {
  const [locker] = server.facts as [BenchLocker]
  const sign = requestSigner(0, locker)

  async function call<Answer>(signed: SignedRequest): Promise<Answer> {
    const headers = { ...sign(signed), ...(signed.body && { 'content-type': 'application/json' }) }
    const outgoing = request(server.url + signed.path, { method: signed.method, headers })
    outgoing.end(signed.body)
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    return JSON.parse(await textOf(response)) as Answer
  }

  return {
    locker,
    sign,
    call,
    /** Creates a file and returns its URLs on the server's own address. */
    async create(filename: string): Promise<{ upload_url: string; download_url: string }> {
      const path = `/v1/lockers/${locker.locker_id}/files`
      const body = JSON.stringify({ filename, content_type: 'application/octet-stream' })
      const made = await call<{ upload_url: string; download_url: string }>({
        method: 'POST',
        path,
        ops: ['locker:write'],
        body,
      })
      const local = (url: string) => server.url + new URL(url).pathname
      return { upload_url: local(made.upload_url), download_url: local(made.download_url) }
    },
    async confirm(filename: string): Promise<void> {
      const query = new URLSearchParams({ receipt_id: locker.receipt_id, filename })
      const outgoing = request(`${server.url}/v1/files/confirm?${query}`, { method: 'POST' }).end()
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
      await textOf(response)
    },
    async remove(filename: string): Promise<void> {
      const path = `/v1/lockers/${locker.locker_id}/files/${filename}`
      await call({ method: 'DELETE', path, ops: ['locker:write'] })
    },
  }
}
