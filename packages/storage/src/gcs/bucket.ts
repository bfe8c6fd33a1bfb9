// The JSON API of one bucket.

import type { IncomingMessage } from 'node:http'
import { createAgent } from '../http/agent.ts'
import { exchange, exchangeText, type HttpRequest, readText, type TextAnswer } from '../http/exchange.ts'
import { parseSize, rangePastEnd } from '../object-rules.ts'
import { ProviderError } from '../provider.ts'
import { type HttpTimeouts, withRetries } from '../timeouts.ts'
import type { Account } from './account.ts'
import { answerError, isBucketMissing, isTokenRejected } from './errors.ts'

interface ObjectMetadata {
  size: number
  /** The encoding that the uploading client stated. */
  encoding: string | undefined
  generation: string
  /** The mark of the write that created it; null when a client uploaded it. */
  mark: string | null
}

export interface GcsBucket {
  timeouts: HttpTimeouts
  /** One attempt. A status that is neither 2xx nor listed is an error. */
  attempt(request: HttpRequest, statuses: readonly number[]): Promise<TextAnswer>
  /** With our credentials, and with retries. */
  ask(request: HttpRequest, statuses: readonly number[]): Promise<TextAnswer>
  /** An answer whose body is the object, still to be read; null when there is no such object. */
  open(name: string, query: Record<string, string>, headers: Record<string, string>): Promise<IncomingMessage | null>
  /** Null when there is no such object. */
  find(name: string): Promise<ObjectMetadata | null>
  /** Only this generation, when one is given. */
  remove(name: string, generation?: string): Promise<void>
  /** The address of an object, or of all when the name is null. */
  url(path: 'storage' | 'upload/storage', name: string | null, query: Record<string, string>): string
}

/** Reads values from a JSON answer; throws when they are invalid. */
export function parseAnswer<Json, Result>({ text }: TextAnswer, pick: (json: Json) => Result): Result {
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
  contentEncoding?: string
}

export function openBucket(endpoint: string, name: string, account: Account, timeouts: HttpTimeouts): GcsBucket {
  const agent = createAgent(endpoint, { keepAlive: true })

  /** With retries, with our credentials, and with new ones when those are no longer accepted. */
  function authorized<Result>(request: HttpRequest, step: (request: HttpRequest) => Promise<Result>): Promise<Result> {
    const withHeaders = (headers: Record<string, string>) =>
      step({ ...request, headers: { ...request.headers, ...headers } })
    const attempt = async () => {
      const headers = await account.headers()
      try {
        return await withHeaders(headers)
      } catch (error) {
        if (!isTokenRejected(error)) throw error
        await account.renew(headers)
        return withHeaders(await account.headers())
      }
    }
    return withRetries(timeouts, attempt, { signal: request.signal })
  }

  const bucket: GcsBucket = {
    timeouts,
    async attempt(request, statuses) {
      const answer = await exchangeText(request, agent, timeouts)
      const { status, isSent } = answer
      const isExpected = (isSent && status >= 200 && status < 300) || statuses.includes(status)
      if (!isExpected || isBucketMissing(answer)) throw answerError(answer)
      return answer
    },
    ask: (request, statuses) => authorized(request, (signed) => bucket.attempt(signed, statuses)),
    open(objectName, query, headers) {
      const url = bucket.url('storage', objectName, { ...query, alt: 'media' })
      return authorized({ method: 'GET', url, headers }, async (signed) => {
        const { answer } = await exchange(signed, agent, timeouts)
        const { statusCode: status = 0 } = answer
        if (status === 200 || status === 206) return answer
        const text = await readText(answer, timeouts)
        if (status === 404 && !isBucketMissing({ status, text })) return null
        throw status === 416 ? rangePastEnd() : answerError({ status, text })
      })
    },
    async find(objectName) {
      const url = bucket.url('storage', objectName, { fields: 'size,generation,metadata,contentEncoding' })
      const answer = await bucket.ask({ method: 'GET', url }, [404])
      if (answer.status === 404) return null
      return parseAnswer(answer, ({ size, generation, metadata, contentEncoding }: ObjectAnswer) => ({
        size: parseSize(size),
        encoding: contentEncoding,
        generation,
        mark: metadata?.['svc-write'] ?? null,
      }))
    },
    async remove(objectName, generation) {
      const query = generation === undefined ? {} : { ifGenerationMatch: generation }
      await bucket.ask({ method: 'DELETE', url: bucket.url('storage', objectName, query) }, [404, 412])
    },
    url(path, objectName, query) {
      const object = objectName === null ? '' : `/${encodeURIComponent(objectName)}`
      return `${endpoint}/${path}/v1/b/${name}/o${object}?${new URLSearchParams(query)}`
    },
  }
  return bucket
}
