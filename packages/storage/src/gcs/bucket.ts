// The JSON API of one bucket.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { wholeNumber } from '../http/answer.ts'
import { ProviderError } from '../provider.ts'
import { pastTheEnd } from '../range.ts'
import type { Account } from './account.ts'
import { type Patience, retrying } from './patience.ts'
import { isBucketMissing, StaleToken, troubleOf } from './errors.ts'
import { type HttpRequest, readText, send } from './transport.ts'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

interface StoredMetadata {
  size: number
  generation: string
  /** Of the write that made it; null where a client made it by itself. */
  mark: string | null
}

export interface GcsStore {
  patience: Patience
  /** One try. Answers with another status than 2xx and those named are trouble. */
  attempt(request: HttpRequest, statuses: readonly number[]): Promise<Answer>
  /** With our credentials, and tried again. */
  ask(request: HttpRequest, statuses: readonly number[]): Promise<Answer>
  /** The answer with the object's bytes, still to be read; null when there is no such object. */
  open(name: string, query: Record<string, string>, headers: Record<string, string>): Promise<IncomingMessage | null>
  /** Null when there is no such object. */
  find(name: string): Promise<StoredMetadata | null>
  /** With the generation given, only that one. */
  remove(name: string, generation?: string): Promise<void>
  /** The addresses of objects and of uploads. */
  url(path: 'storage' | 'upload/storage', name: string | null, query: Record<string, string>): string
}

/** What is picked from an answer; trouble where that is not as it should be. */
export function parseAnswer<Said, T>({ text }: Answer, pick: (said: Said) => T): T {
  try {
    return pick(JSON.parse(text))
  } catch (error) {
    throw error instanceof ProviderError ? error : new ProviderError('unavailable', error)
  }
}

interface ObjectAnswer {
  size: string
  generation: string
  metadata?: Record<string, string>
}

export function createStore(endpoint: string, bucket: string, account: Account, patience: Patience): GcsStore {
  /** As many tries as it takes, with our credentials, and with new ones if those are let in no longer. */
  function admitted<T>(request: HttpRequest, step: (request: HttpRequest) => Promise<T>): Promise<T> {
    const withHeaders = (headers: Record<string, string>) =>
      step({ ...request, headers: { ...request.headers, ...headers } })
    return retrying(
      patience,
      async () => {
        const headers = await account.headers()
        try {
          return await withHeaders(headers)
        } catch (error) {
          if (!(error instanceof StaleToken)) throw error
          await account.renew(headers)
          return withHeaders(await account.headers())
        }
      },
      request.signal,
    )
  }

  const store: GcsStore = {
    patience,
    async attempt(request, statuses) {
      const answer = await send(request, patience)
      const text = await readText(answer, patience.idleMs)
      const status = answer.statusCode ?? 0
      const isExpected = (status >= 200 && status < 300) || statuses.includes(status)
      if (!isExpected || isBucketMissing(status, text)) throw troubleOf(status, text)
      return { status, headers: answer.headers, text }
    },
    ask: (request, statuses) => admitted(request, (letIn) => store.attempt(letIn, statuses)),
    open(name, query, headers) {
      const url = store.url('storage', name, { ...query, alt: 'media' })
      return admitted({ method: 'GET', url, headers }, async (letIn) => {
        const answer = await send(letIn, patience)
        const status = answer.statusCode ?? 0
        if (status === 200 || status === 206) return answer
        const text = await readText(answer, patience.idleMs)
        if (status === 404 && !isBucketMissing(status, text)) return null
        throw status === 416 ? pastTheEnd() : troubleOf(status, text)
      })
    },
    async find(name) {
      const url = store.url('storage', name, { fields: 'size,generation,metadata' })
      const answer = await store.ask({ method: 'GET', url }, [404])
      if (answer.status === 404) return null
      return parseAnswer(answer, ({ size, generation, metadata }: ObjectAnswer) => ({
        size: wholeNumber(size),
        generation,
        mark: metadata?.['svc-write'] ?? null,
      }))
    },
    async remove(name, generation) {
      const url = store.url('storage', name, generation === undefined ? {} : { ifGenerationMatch: generation })
      await store.ask({ method: 'DELETE', url }, [404, 412])
    },
    url(path, name, query) {
      const object = name === null ? '' : `/${encodeURIComponent(name)}`
      return `${endpoint}/${path}/v1/b/${bucket}/o${object}?${new URLSearchParams(query)}`
    },
  }
  return store
}
