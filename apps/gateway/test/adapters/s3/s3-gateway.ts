// For tests: a gateway with a locker, stock clients of its S3 endpoint, and requests that are signed by hand.

import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3'
import { testClock } from '@svc/devnet/clock'
import { ed25519Identity, openTestGateway, type TestGateway, type TestLocker } from '@svc/devnet/services/test-gateway'
import type { Variables } from '@svc/service/program/config'
import { expect } from 'vitest'
import type { Overrides } from '../../../src/context.ts'
import { askCredentials, expectSuccess } from './credentials/credentials-gateway.ts'

const UNSIGNED = 'UNSIGNED-PAYLOAD'

type S3Gateway = Awaited<ReturnType<typeof openS3Gateway>>
export type Bucket = Awaited<ReturnType<S3Gateway['bucket']>>

interface RawOptions {
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** The payload hash that is signed; "unsigned" by default. */
  payload?: string
  /** Replaces the secret of the credentials. */
  secret?: string
}

export async function openS3Gateway(variables: Variables = {}, overrides: Overrides = {}) {
  // Stock clients read the time from the Date header, which has the real time.
  const clock = testClock(Date.now())
  const instance = await openTestGateway({ S3: 'on', ...variables }, { clock, ...overrides })
  const s3Url = `${instance.gateway.url}/s3`

  /** Asks for credentials of a locker. */
  async function bucketOf(locker: TestLocker, scope: object = {}) {
    const name = locker.lockerId
    const ask = async (wanted: object) => expectSuccess(await askCredentials(locker, { access: 'write', ...wanted }))
    const credentials = await ask(scope)
    return {
      locker,
      name,
      credentials,
      client: s3Client(s3Url, credentials),
      /** A client with other settings, or with other credentials of the same locker. */
      clientWith: async (config: Partial<S3ClientConfig>, other?: object) =>
        s3Client(s3Url, other ? await ask(other) : credentials, config),
      /** A request that is signed by hand; the path begins with the key. */
      send: (method: string, path: string, options: RawOptions & { target?: string } = {}) =>
        sendSigned(instance, credentials, method, options.target ?? `/s3/${name}/${path}`, options),
    }
  }

  const bucket = async (scope?: object) => bucketOf(await instance.locker(ed25519Identity()), scope)
  return { ...instance, s3Url, bucket, bucketOf }
}

export interface GivenCredentials {
  access_key_id: string
  secret_access_key: string
  /** Only short-lived credentials have one. */
  session_token?: string
}

/** A stock client. */
export function s3Client(
  endpoint: string,
  { access_key_id, secret_access_key, session_token }: GivenCredentials,
  config: Partial<S3ClientConfig> = {},
): S3Client {
  return new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: {
      accessKeyId: access_key_id,
      secretAccessKey: secret_access_key,
      ...(session_token !== undefined && { sessionToken: session_token }),
    },
    ...config,
  })
}

/** What a stock client does with the objects of a bucket. */
export function objectsOf(bucket: Pick<Bucket, 'name' | 'client'>) {
  const of = (Key: string, more: object) => ({ Bucket: bucket.name, Key, ...more })
  const get = (Key: string, more: object = {}) => bucket.client.send(new GetObjectCommand(of(Key, more)))
  return {
    put: (Key: string, Body: Uint8Array | string | Readable, more: object = {}) =>
      bucket.client.send(new PutObjectCommand({ Body, ...of(Key, more) })),
    get,
    head: (Key: string, more: object = {}) => bucket.client.send(new HeadObjectCommand(of(Key, more))),
    remove: (Key: string, more: object = {}) => bucket.client.send(new DeleteObjectCommand(of(Key, more))),
    copy: (from: string, Key: string, more: object = {}) => {
      const CopySource = `${bucket.name}/${encodeURIComponent(from)}`
      return bucket.client.send(new CopyObjectCommand({ CopySource, ...of(Key, more) }))
    },
    async bytesOf(Key: string, more?: object): Promise<Buffer> {
      return Buffer.from((await (await get(Key, more)).Body?.transformToByteArray()) ?? [])
    },
  }
}

export async function sendSigned(
  instance: TestGateway,
  credentials: GivenCredentials,
  method: string,
  target: string,
  { headers = {}, body, payload = UNSIGNED, secret = credentials.secret_access_key }: RawOptions = {},
) {
  const given = { ...credentials, secret_access_key: secret }
  const signed = signHead(instance, given, method, target, { ...headers, payload })
  // fetch resolves `.` and `..` in paths, even when they are encoded.
  const { hostname, port } = new URL(instance.gateway.url)
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const request = httpRequest({ hostname, port, method, path: target, headers: { ...length, ...signed } })
  const [response] = (await once(request.end(body), 'response')) as [IncomingMessage]
  const text = Buffer.concat(await response.toArray()).toString()
  const received = new Headers(response.headers as Record<string, string>) // none is repeated
  return { status: response.statusCode ?? 0, headers: received, text, code: /<Code>(\w+)</.exec(text)?.[1] ?? null }
}

/** The headers of a request with those that sign it. Parameters of the target are in order, each with `=`. */
export function signHead(
  { gateway, clock }: TestGateway,
  credentials: GivenCredentials,
  method: string,
  target: string,
  { host = new URL(gateway.url).host, payload = UNSIGNED, ...headers }: Record<string, string>,
): Record<string, string> {
  const time = new Date(clock.now()).toISOString().replace(/[-:]|\.\d+/g, '')
  const all: Record<string, string> = {
    ...headers,
    host,
    'x-amz-content-sha256': payload,
    'x-amz-date': time,
    ...(credentials.session_token && { 'x-amz-security-token': credentials.session_token }),
  }
  const names = Object.keys(all).sort()
  const [path, query = ''] = target.split('?')
  const block = names.map((name) => `${name}:${all[name]}\n`).join('')
  const request = [method, path, query, block, names.join(';'), payload].join('\n')
  const scope = `${time.slice(0, 8)}/us-east-1/s3/aws4_request`
  const text = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${createHash('sha256').update(request).digest('hex')}`
  const key = scope.split('/').reduce<Buffer | string>(hmac, `AWS4${credentials.secret_access_key}`)
  const signature = hmac(key, text).toString('hex')
  const authorization = `AWS4-HMAC-SHA256 Credential=${credentials.access_key_id}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`
  const { host: _, ...sent } = all
  return { ...sent, authorization }
}

/** A request that is signed for this host, with its head as lines. */
export function signedLines(
  instance: TestGateway,
  { credentials }: Bucket,
  method: string,
  target: string,
  { host = 'x', ...headers }: Record<string, string> = {},
): string {
  const head = signHead(instance, credentials, method, target, { host, ...headers })
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\n${lines.join('')}`
}

/** Sends a PUT of four bytes, and calls `between` when the gateway has accepted it and has half of them. */
export async function putInHalves(
  instance: TestGateway,
  credentials: GivenCredentials,
  target: string,
  between: () => Promise<unknown>,
): Promise<{ status: number; text: string }> {
  const headers = signHead(instance, credentials, 'PUT', target, { 'content-length': '4' })
  const url = instance.gateway.url + target
  const request = httpRequest(url, { method: 'PUT', headers: { ...headers, expect: '100-continue' } })
  const answered = once(request, 'response') as Promise<[IncomingMessage]>
  request.flushHeaders()
  await once(request, 'continue')
  request.write('by')
  await between()
  request.end('te')
  const [response] = await answered
  return { status: response.statusCode ?? 0, text: Buffer.concat(await response.toArray()).toString() }
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

/** Expects a request of a stock client to be refused with this code. */
export async function expectS3Error(request: Promise<unknown>, status: number, code: string): Promise<void> {
  const refusal = { name: code, $metadata: { httpStatusCode: status } }
  await expect(request, `refused by ${code}`).rejects.toMatchObject(refusal)
}
