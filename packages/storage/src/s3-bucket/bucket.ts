// A bucket of a store that speaks S3.

import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { AwsV4Signer } from 'aws4fetch'
import { createAgent } from '../http/agent.ts'
import { isRepeatable, type StreamedBody } from '../http/body.ts'
import { exchange, exchangeText, type HttpRequest, readText, type TextAnswer } from '../http/exchange.ts'
import { parseSize, requireObjectId } from '../object-rules.ts'
import { ProviderError } from '../provider.ts'
import { type HttpTimeouts, withRetries } from '../timeouts.ts'
import { answerError, hasStatus } from './errors.ts'
import type { BucketSettings } from './settings.ts'

interface Call {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Without a key, the call concerns the bucket. */
  key?: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Buffer | StreamedBody | null
}

/** Each call is retried when that may help; any other failure is thrown. */
export interface S3Bucket {
  /** The store's name in the log. */
  title: string
  timeouts: HttpTimeouts
  ask(call: Call): Promise<TextAnswer>
  /** Leaves the body of the answer to be read. */
  open(call: Call): Promise<IncomingMessage>
  /** An address with which anyone may make this call, with exactly these headers. */
  presign(call: Call, expiresInSeconds: number): Promise<string>
  keyOf(id: string): string
  /** The common prefix of the keys of all objects whose ids begin like this one: Storj lists whole folders only. */
  folderOf(id: string): string
}

export function openBucket(settings: BucketSettings, timeouts: HttpTimeouts): S3Bucket {
  const { title, endpoint, bucket, prefix } = settings
  const signer = createSigner(settings)
  const agent = createAgent(endpoint, { keepAlive: true })

  function request({ method, key, query, headers = {} }: Call): UnsignedRequest {
    const url = new URL(key === undefined ? `${endpoint}/${bucket}` : `${endpoint}/${bucket}/${key}`)
    url.search = `${new URLSearchParams(query)}`
    return { method, url: url.href, headers }
  }

  async function signed(call: Call): Promise<HttpRequest> {
    const { body = null } = call
    return { ...(await signer.sign(request(call), sha256(body))), body }
  }

  async function openOnce(call: Call): Promise<IncomingMessage> {
    const { answer } = await exchange(await signed(call), agent, timeouts)
    const { statusCode: status = 0, headers } = answer
    if (status >= 200 && status < 300) return answer
    throw answerError(title, call.method, { status, headers, text: await readText(answer, timeouts) })
  }

  async function askOnce(call: Call): Promise<TextAnswer> {
    const answer = await exchangeText(await signed(call), agent, timeouts)
    const { status, isSent, text } = answer
    if (!(isSent && status >= 200 && status < 300)) throw answerError(title, call.method, answer)
    // The store begins to answer long calls before it knows their outcome.
    if (/^\s*(?:<\?xml[^>]*>)?\s*<Error>/.test(text)) throw answerError(title, call.method, { status: 500, text })
    return answer
  }

  const retried = <Result>(call: Call, step: (call: Call) => Promise<Result>) =>
    withRetries(timeouts, () => step(call), { isRepeatable: () => isRepeatable(call.body ?? null) })

  const folderOf = (id: string) => `${prefix}${requireObjectId(id).slice(0, 2)}/`

  return {
    title,
    timeouts,
    ask: (call) => retried(call, askOnce),
    open: (call) => retried(call, openOnce),
    presign: (call, expiresInSeconds) => signer.presign(request(call), expiresInSeconds),
    keyOf: (id) => folderOf(id) + id,
    folderOf,
  }
}

interface FoundObject {
  size: number
  /** The encoding that the uploading client stated. */
  encoding: string | undefined
  /** The mark of the write that created it; null when a client uploaded it. */
  mark: string | null
}

/** Every write puts a random mark on its object. */
export const MARK_HEADER = 'x-amz-meta-svc-write'

/** Null when there is no such object, or no bucket: HEAD does not distinguish them. */
export async function findObject(bucket: S3Bucket, key: string): Promise<FoundObject | null> {
  try {
    const { headers } = await bucket.ask({ method: 'HEAD', key })
    return {
      size: parseSize(headers['content-length']),
      encoding: headers['content-encoding'],
      mark: headers[MARK_HEADER]?.toString() ?? null,
    }
  } catch (error) {
    if (hasStatus(error, 404)) return null
    throw error
  }
}

/** A missing object means nothing while its bucket is missing. */
export async function requireBucket(bucket: S3Bucket): Promise<void> {
  try {
    await bucket.ask({ method: 'HEAD' })
  } catch (error) {
    throw hasStatus(error, 404) ? new ProviderError('closed', (error as ProviderError).cause) : error
  }
}

type UnsignedRequest = Required<Pick<HttpRequest, 'method' | 'url' | 'headers'>>

/** AWS signature version 4. */
function createSigner({ accessKeyId, secretAccessKey, region }: BucketSettings) {
  const account = { accessKeyId, secretAccessKey, region, service: 's3', cache: new Map<string, ArrayBuffer>() }
  return {
    /** `bodySha256` in hex; null when it is not known before the body is sent. */
    async sign(request: UnsignedRequest, bodySha256: string | null) {
      const payload = { 'x-amz-content-sha256': bodySha256 ?? 'UNSIGNED-PAYLOAD' }
      const signer = new AwsV4Signer({ ...account, ...request, headers: { ...request.headers, ...payload } })
      const { headers } = await signer.sign()
      return { ...request, headers: Object.fromEntries(headers) }
    },
    async presign(request: UnsignedRequest, expiresInSeconds: number) {
      const url = new URL(request.url)
      url.searchParams.set('X-Amz-Expires', `${expiresInSeconds}`)
      const signer = new AwsV4Signer({ ...account, ...request, url: url.href, signQuery: true, allHeaders: true })
      const { url: signedUrl } = await signer.sign()
      // A space is signed as %20, because some stores do not read a plus as one.
      return signedUrl.href.replaceAll('+', '%20')
    },
  }
}

function sha256(body: NonNullable<Call['body']> | null): string | null {
  return body === null || Buffer.isBuffer(body) ? hash('sha256', body ?? '', 'hex') : null
}
