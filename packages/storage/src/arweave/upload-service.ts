// A service that bundles data items and takes them to the chain, with the API of ArDrive's Turbo.

import { createAgent } from '../http/agent.ts'
import type { StreamedBody } from '../http/body.ts'
import { exchangeText, type TextAnswer } from '../http/exchange.ts'
import { ProviderError, succeeds } from '../provider.ts'
import { type HttpTimeouts, retryOnce } from '../timeouts.ts'
import { answerError } from './errors.ts'
import type { ArweaveSettings } from './settings.ts'

/** Null: the service does not know the item. `failed`: it could not take it to the chain, and would accept it again. */
export type ItemState = 'permanent' | 'pending' | 'failed' | null

/**
 * `open`: chunks may be sent. `closed`: it is complete, and being checked or delivered. `gone`: dropped, or rejected.
 */
type UploadState = 'open' | 'closed' | 'unpaid' | 'gone'

/** A body that keeps a file open while it is sent. */
export interface ItemBody extends StreamedBody {
  /** Closes the file, however much was sent. */
  release(): void
}

/** Sends nothing twice: after a failure, the caller must find out what was done. */
export interface UploadService {
  itemState(id: string): Promise<ItemState>
  /** Also succeeds when the service has the item already. */
  postItem(body: ItemBody): Promise<void>
  /** Resolves with the id of an upload in chunks. */
  beginUpload(chunkBytes: number): Promise<string>
  uploadState(uploadId: string): Promise<UploadState>
  /** The lengths of the stored chunks, by their offsets. */
  chunksOf(uploadId: string): Promise<Map<number, number>>
  postChunk(uploadId: string, offset: number, body: ItemBody): Promise<void>
  /** No more chunks will come. */
  finalize(uploadId: string): Promise<void>
  isHealthy(): Promise<boolean>
  /** Aborts everything that is running. */
  close(): void
}

type Address = Pick<ArweaveSettings, 'uploadUrl' | 'token'>

export function openUploadService({ uploadUrl, token }: Address, timeouts: HttpTimeouts): UploadService {
  const agent = createAgent(uploadUrl, { keepAlive: true })
  let isClosed = false

  async function send(method: 'GET' | 'POST', path: string, body: ItemBody | Buffer | null): Promise<TextAnswer> {
    if (isClosed) throw new ProviderError('unavailable', 'aborted')
    const headers: Record<string, string> = body ? { 'content-type': 'application/octet-stream' } : {}
    return exchangeText({ method, url: uploadUrl + path, headers, body }, agent, timeouts)
  }

  function requireSuccess(asked: string, answer: TextAnswer): void {
    const { status, isSent } = answer
    // 202 is a success even before everything was sent: the service has the item already.
    if (status !== 202 && !(isSent && status >= 200 && status < 300)) throw answerError(asked, answer)
  }

  /** Null when the service does not know the item. */
  async function get(path: string): Promise<Record<string, unknown> | null> {
    const answer = await retryOnce(() => send('GET', path, null))
    if (answer.status === 404) return null
    requireSuccess(`GET ${path}`, answer)
    return parseJson(answer.text)
  }

  async function post(path: string, body: ItemBody | Buffer): Promise<void> {
    try {
      requireSuccess(`POST ${path}`, await send('POST', path, body))
    } finally {
      if (!Buffer.isBuffer(body)) body.release()
    }
  }

  const chunks = (uploadId: string) => `/v1/chunks/${token}/${encodeURIComponent(uploadId)}`

  return {
    async itemState(id) {
      const answer = await get(`/v1/tx/${id}/status`)
      if (answer?.status === 'FINALIZED') return 'permanent'
      return answer && (answer.status === 'FAILED' ? 'failed' : 'pending')
    },
    postItem: (body) => post(`/v1/tx/${token}`, body),
    async beginUpload(chunkBytes) {
      const id = (await get(`/v1/chunks/${token}/-1/-1?chunkSize=${chunkBytes}`))?.id
      if (typeof id === 'string' && id !== '') return id
      throw new ProviderError('unavailable', 'the service did not begin an upload')
    },
    async uploadState(uploadId) {
      const status = (await get(`${chunks(uploadId)}/status`))?.status
      if (status === 'ASSEMBLING') return 'open'
      if (status === 'UNDERFUNDED') return 'unpaid'
      return ['VALIDATING', 'FINALIZING', 'FINALIZED'].includes(`${status}`) ? 'closed' : 'gone'
    },
    async chunksOf(uploadId) {
      const stored = (await get(`${chunks(uploadId)}/-1`))?.chunks
      return new Map(Array.isArray(stored) ? stored.filter(isChunk) : [])
    },
    postChunk: (uploadId, offset, body) => post(`${chunks(uploadId)}/${offset}`, body),
    finalize: (uploadId) => post(`${chunks(uploadId)}/finalize`, Buffer.alloc(0)),
    isHealthy: () => succeeds(send('GET', '/v1/info', null).then((answer) => requireSuccess('GET /v1/info', answer))),
    close() {
      isClosed = true
      agent.destroy()
    },
  }
}

/** An offset and a length; a chunk in another form is sent again. */
function isChunk(stated: unknown): stated is [number, number] {
  return Array.isArray(stated) && stated.length === 2 && stated.every(Number.isSafeInteger)
}

function parseJson(text: string): Record<string, unknown> {
  try {
    const answer: unknown = JSON.parse(text)
    if (typeof answer === 'object' && answer !== null) return answer as Record<string, unknown> // fields are checked by the caller
    throw new Error('the service did not return a JSON object')
  } catch (error) {
    throw new ProviderError('unavailable', error, { isRetryable: true })
  }
}
