// A service that bundles data items and takes them to the chain, spoken to as ArDrive's Turbo is.

import { createAgent } from '../http/agent.ts'
import { exchange } from '../http/exchange.ts'
import type { Patience } from '../timeouts.ts'
import { readText } from '../http/read-text.ts'
import { ProviderError } from '../provider.ts'
import type { ItemBody } from './item-body.ts'
import { askingTwice } from './patience.ts'
import { Refusal } from './errors.ts'
import type { ArweaveSettings } from './settings.ts'

/** Null: it knows no such item. `failed`: it could not bring it to the chain, and would take it again. */
export type ItemState = 'permanent' | 'pending' | 'failed' | null

/** `open`: chunks may come. `closed`: it is whole, and being looked at or taken. `gone`: forgotten, or found bad. */
type UploadState = 'open' | 'closed' | 'unpaid' | 'gone'

/** Nothing is sent twice: who is in doubt about what was done has to find out before. */
export interface UploadService {
  itemState(id: string): Promise<ItemState>
  /** Also good where the service has the item already. */
  postItem(body: ItemBody): Promise<void>
  /** Resolves with the id of an upload in chunks. */
  beginUpload(chunkBytes: number): Promise<string>
  uploadState(uploadId: string): Promise<UploadState>
  /** The lengths of the chunks that have come, by their offsets. */
  chunksOf(uploadId: string): Promise<Map<number, number>>
  postChunk(uploadId: string, offset: number, body: ItemBody): Promise<void>
  /** No more chunks will come. */
  finalize(uploadId: string): Promise<void>
  isWell(): Promise<boolean>
  /** Breaks off whatever is under way. */
  close(): void
}

interface Answer {
  status: number
  text: string
}

type Address = Pick<ArweaveSettings, 'uploadUrl' | 'token'>

export function openUploadService({ uploadUrl, token }: Address, patience: Patience): UploadService {
  const agent = createAgent(uploadUrl, { keepAlive: true })
  let isClosed = false

  async function ask(method: 'GET' | 'POST', path: string, body: ItemBody | Buffer | null): Promise<Answer> {
    if (isClosed) throw new ProviderError('unavailable', new Error('broken off'))
    const headers: Record<string, string> = body ? { 'content-type': 'application/octet-stream' } : {}
    const { outgoing, answer } = await exchange({ method, url: uploadUrl + path, headers }, body, agent, patience)
    const text = await readText(answer, patience.idleMs)
    const isSent = outgoing.writableEnded
    if (!isSent) outgoing.destroy()
    const { statusCode: status = 0 } = answer
    // Before all was sent only 202 is a yes: the service has the item, and wants no more of it.
    if (status === 404 || status === 202 || (isSent && status >= 200 && status < 300)) return { status, text }
    throw new Refusal(`${method} ${path}`, status, text)
  }

  const get = async (path: string) => {
    const { status, text } = await askingTwice(() => ask('GET', path, null))
    return status === 404 ? null : parse(text)
  }

  async function post(path: string, body: ItemBody | Buffer): Promise<void> {
    try {
      const { status, text } = await ask('POST', path, body)
      if (status === 404) throw new Refusal(`POST ${path}`, status, text)
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
      throw new ProviderError('unavailable', new Error('the service began no upload'))
    },
    async uploadState(uploadId) {
      const status = (await get(`${chunks(uploadId)}/status`))?.status
      if (status === 'ASSEMBLING') return 'open'
      if (status === 'UNDERFUNDED') return 'unpaid'
      return ['VALIDATING', 'FINALIZING', 'FINALIZED'].includes(`${status}`) ? 'closed' : 'gone'
    },
    async chunksOf(uploadId) {
      const there = (await get(`${chunks(uploadId)}/-1`))?.chunks
      return new Map(Array.isArray(there) ? (there as [number, number][]) : [])
    },
    postChunk: (uploadId, offset, body) => post(`${chunks(uploadId)}/${offset}`, body),
    finalize: (uploadId) => post(`${chunks(uploadId)}/finalize`, Buffer.alloc(0)),
    isWell: () =>
      ask('GET', '/v1/info', null).then(
        ({ status }) => status !== 404,
        () => false,
      ),
    close() {
      isClosed = true
      agent.destroy()
    },
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ProviderError('unavailable', error)
  }
}
