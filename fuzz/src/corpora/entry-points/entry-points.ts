// A gateway with a locker, and every way to store a file in it under a name from untrusted input.

import type { S3Credentials } from '@svc/api/s3-credentials'
import type { TusToken } from '@svc/api/tus'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { seedLocker, seedReceipt } from '@svc/devnet/services/seed-lockers'
import { ed25519Identity, signCall } from '@svc/devnet/services/signing'
import { toBase64, utf8 } from '@svc/protocol/bytes'
import { encodeKey } from '@svc/s3/xml'
import { openLine } from '../../contract/exchange.ts'
import { signedHeaders } from '../../contract/s3/sign.ts'

interface Reply<Body> {
  status: number
  body: Body
}

type Put = (name: string, text: string) => Promise<number>

export interface EntryPoints {
  /** A signed call about the locker; `path` begins after its id. */
  call<Body>(method: string, path: string, body?: object): Promise<Reply<Body>>
  /** Stores a text under a name; returns the decisive status. */
  put: Record<string, Put>
  /** Reads the text of a file by its name; returns the status when there is none. */
  get: Record<'the public link' | 'S3', (name: string) => Promise<string | number>>
  /** Opens another locker with these tags. */
  openTagged(tags: readonly string[]): Promise<Reply<{ tags?: string[] }>>
  /** Makes the gateway fetch a URL. */
  fetchFrom(url: string): Promise<Reply<{ detail?: { msg: string }[] }>>
  /**
   * Delegates the locker to an agent service with these tasks, as another caller: tasks are checked first. Returns the
   * status.
   */
  delegateTo(agentUrl: string, tasks: object): Promise<number>
  /** The URL of the gateway. */
  url: string
  close(): Promise<void>
}

const OPS = ['locker:read', 'locker:write', 'locker:list', 'locker:admin', 'locker:provision']

/** `dnsServer` answers for all names that the gateway looks up. */
export async function openEntryPoints({
  databaseUrl,
  dnsServer,
}: {
  databaseUrl: string
  dnsServer: string
}): Promise<EntryPoints> {
  await using opened = new AsyncDisposableStack()
  const gateway = await startTestGateway({
    DATABASE_URL: databaseUrl,
    DNS_SERVERS: dnsServer,
    MAX_LOCKERS_PER_OWNER: '1000000',
    S3: 'on',
  })
  opened.defer(() => gateway.stop())
  const line = openLine(gateway.url)
  opened.defer(async () => line.close())
  const owner = ed25519Identity()
  const { locker_id: lockerId, receipt_id: receiptId } = await seedLocker(gateway.context, { owner: owner.identity })
  const base = `/v1/lockers/${lockerId}`

  async function send<Body>(method: string, target: string, headers: Record<string, string>, body: Uint8Array | null) {
    const answer = await line.send({ method, target, headers, body })
    const text = answer.body.toString()
    return { status: answer.status, text, body: (text.startsWith('{') ? JSON.parse(text) : null) as Body }
  }

  function signed<Body>(method: string, path: string, body: object | undefined, ids = { lockerId, receiptId }) {
    const call = signCall(owner, { method, path, ops: OPS, ...ids, ...(body && { body }) }, Date.now())
    const type = body && { 'content-type': 'application/json' }
    return send<Body>(method, path, { ...type, ...call.headers }, call.body ?? null)
  }

  const call: EntryPoints['call'] = (method, path, body) => signed(method, base + path, body)
  const credentials = (await call<S3Credentials>('POST', '/s3/credentials', { access: 'write' })).body
  const token = (await call<TusToken>('POST', '/tus/tokens', {})).body.headers['X-Upload-Token']
  const { host } = new URL(gateway.url)

  function s3(method: string, name: string, body: Uint8Array | null) {
    const target = `/s3/${lockerId}/${encodeKey(name, 'url')}`
    return send(method, target, signedHeaders(credentials, host, Date.now, { method, target, body }, {}), body)
  }

  const running = opened.move()
  return {
    url: gateway.url,
    call,
    put: {
      async 'short URL'(filename, text) {
        const made = await call<{ upload_url: string }>('POST', '/files', { filename, content_type: 'text/plain' })
        if (made.status !== 200) return made.status
        const { pathname } = new URL(made.body.upload_url)
        return (await send('PUT', pathname, { 'content-type': 'text/plain' }, utf8(text))).status
      },
      async session(filename, text) {
        const files = [{ filename, content_type: 'text/plain' }]
        const made = await call<{ session_id: string; upload_token: string; files: { file_id: string }[] }>(
          'POST',
          '/upload-sessions',
          { files },
        )
        if (made.status !== 200) return made.status
        const { session_id, upload_token, files: begun } = made.body
        const path = `/v1/upload-sessions/${session_id}`
        const headers = { 'x-upload-token': upload_token }
        const bytes = { ...headers, 'content-type': 'application/octet-stream' }
        const part = await send('POST', `${path}/files/${begun[0]?.file_id}/parts?index=0`, bytes, utf8(text))
        return part.status === 200 ? (await send('POST', `${path}/finalize`, headers, null)).status : part.status
      },
      async tus(filename, text) {
        const headers = {
          'tus-resumable': '1.0.0',
          'content-type': 'application/offset+octet-stream',
          'x-upload-token': token,
          'upload-length': `${utf8(text).length}`,
          'upload-metadata': `filename ${toBase64(utf8(filename))}`,
        }
        return (await send('POST', `${base}/tus`, headers, utf8(text))).status
      },
      S3: async (filename, text) => (await s3('PUT', filename, utf8(text))).status,
    },
    get: {
      'the public link': async (name) =>
        textOf(await send('GET', `/v1/r/${receiptId}/f/${encodeKey(name, 'url')}`, {}, null)),
      S3: async (name) => textOf(await s3('GET', name, null)),
    },
    async openTagged(tags) {
      const { receipt_id } = await seedReceipt(gateway.context, { owner: owner.identity })
      const path = '/v1/storage/signed_provision'
      return signed('POST', path, { receipt_id, tags }, { lockerId: '', receiptId: receipt_id })
    },
    fetchFrom: (source_url) => signed('POST', '/v1/files/fetch-and-store', { source_url, filename: 'fetched' }),
    async delegateTo(agentUrl, tasks) {
      const path = '/v1/delegate'
      const given = { receipt_id: receiptId, locker_id: lockerId, tasks }
      const { headers, body } = signCall(
        owner,
        { method: 'POST', path, body: given, ops: OPS, lockerId, receiptId },
        Date.now(),
      )
      const known = { 'content-type': 'application/json', 'x-svc-identity': ed25519Identity().identity, ...headers }
      const response = await fetch(agentUrl + path, { method: 'POST', headers: known, body } as RequestInit)
      await response.arrayBuffer()
      return response.status
    },
    close: () => running.disposeAsync(),
  }
}

function textOf({ status, text }: { status: number; text: string }): string | number {
  return status === 200 ? text : status
}
