// For tests: a TLS server on this machine with names that look public, and downloads from it.

import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { type OpenedSource, openSource, type SourceOptions } from '../../src/outgoing/open-source.ts'
import { SourceError } from '../../src/outgoing/public-request.ts'
import { PUBLIC_TEST_CA, PUBLIC_TEST_CERTIFICATE, PUBLIC_TEST_KEY } from './certificates.ts'

/** The server has a certificate for this name and for `other.example.test`. */
export const SOURCE = 'https://files.example.test/report.pdf'

export interface TestTlsServer {
  /** Options that reach the server under any name. */
  options: SourceOptions & { port: number }
  /** Host and path of every request, in order. */
  readonly requests: string[]
  /** Waits until clients have closed all connections; its disposal does the same. */
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export async function startTestTlsServer(
  answer: RequestListener,
  cert: string = PUBLIC_TEST_CERTIFICATE,
): Promise<TestTlsServer> {
  const requests: string[] = []
  const server = createServer({ cert, key: PUBLIC_TEST_KEY }, (request, response) => {
    requests.push(`${request.headers.host}${request.url}`)
    answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    server.close()
    await once(server, 'close')
  }
  const options = { resolve: resolveTo('127.0.0.1'), isPublic: () => true, ca: PUBLIC_TEST_CA, port }
  return { options, requests, stop, [Symbol.asyncDispose]: stop }
}

/** Every name has these addresses. */
export function resolveTo(...addresses: string[]): NonNullable<SourceOptions['resolve']> {
  return async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
}

export async function mustNotResolve(hostname: string): Promise<never> {
  throw new Error(`${hostname} was looked up`)
}

/** The text of the file, or the reason why it was not fetched. */
export async function download(url: string, options: SourceOptions): Promise<string> {
  try {
    return await textOf(await openSource(url, options))
  } catch (error) {
    if (error instanceof SourceError) return error.reason
    throw error
  }
}

export async function textOf({ stream }: OpenedSource): Promise<string> {
  return (await buffer(stream)).toString()
}

/** A download from a new server with this answer. */
export async function downloadFrom(answer: RequestListener, options?: SourceOptions): Promise<string> {
  await using server = await startTestTlsServer(answer)
  return await download(SOURCE, { ...server.options, ...options })
}

export async function refusalOf(opening: Promise<unknown>): Promise<SourceError> {
  const error = await opening.catch((error: unknown) => error)
  if (error instanceof SourceError) return error
  throw new Error('there was no error', { cause: error })
}
