// Helpers for tests of failing stores.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { expect, onTestFinished } from 'vitest'
import { ProviderError, type StorageProvider } from '../src/provider.ts'

/** Short, because some servers never answer. */
export const SHORT_TIMEOUTS = { connectMs: 5000, answerMs: 300, idleMs: 300, attempts: 2, backoffMs: 1 }

/** Writes the body of a request under this id, and returns the error with which the server could still answer it. */
export async function answeredFailure(
  provider: StorageProvider,
  id: string,
  body: Buffer<ArrayBuffer>,
): Promise<string> {
  const server = createServer(async (request, response) => {
    const about = { contentType: 'text/plain', size: null }
    const failure: unknown = await provider.write(id, request, about).catch((error) => error)
    request.resume()
    response.end(`${failure}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo // a listening TCP server has one
  const answer = await fetch(`http://127.0.0.1:${port}`, { method: 'PUT', body })
  return answer.text()
}

export async function failureOf(work: Promise<unknown>): Promise<ProviderError> {
  const failure: unknown = await work.catch((error) => error)
  expect(failure).toBeInstanceOf(ProviderError)
  return failure as ProviderError // asserted above
}

export async function readToEnd(stream: Readable): Promise<void> {
  for await (const _ of stream);
}
