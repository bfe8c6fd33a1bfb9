// A client that does as little work as possible: it sends one buffer repeatedly and discards responses.

import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'

export const GIBIBYTE = 1_073_741_824
const CHUNK = Buffer.alloc(1_048_576, 'svc')

export interface ByteRequest {
  url: string
  method?: string
  headers?: Record<string, string>
}

/** Sends this many bytes and returns the response. */
export async function sendBytes(
  { url, method = 'PUT', headers }: ByteRequest,
  length: number,
): Promise<IncomingMessage> {
  const outgoing = request(url, { method, headers: { ...headers, 'content-length': length } })
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
  for (let left = length; left > 0; left -= CHUNK.length) {
    if (!outgoing.write(left < CHUNK.length ? CHUNK.subarray(0, left) : CHUNK)) await once(outgoing, 'drain')
  }
  outgoing.end()
  const [response] = await answered
  return response
}

export async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response) text += chunk
  if ((response.statusCode ?? 500) >= 400) throw new Error(`${response.statusCode}: ${text}`)
  return text
}

/** Fetches a URL and counts the received bytes. */
export async function drainBytes(url: string): Promise<number> {
  const outgoing = request(url).end()
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  let length = 0
  response.on('data', (chunk: Buffer) => {
    length += chunk.length
  })
  await once(response, 'end')
  if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode}`)
  return length
}

/** Fetches without Node's HTTP client, into one buffer: it receives bytes as fast as any server here can send them. */
export async function drainFast(url: string): Promise<void> {
  const { hostname, port, pathname } = new URL(url)
  let head = ''
  const callback = (length: number, buffer: Uint8Array) => {
    head ||= Buffer.from(buffer.subarray(0, length)).toString('latin1', 0, 12)
    return true
  }
  const socket = connect({ host: hostname, port: Number(port), onread: { buffer: Buffer.alloc(1_048_576), callback } })
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`)
  await once(socket, 'close')
  if (head !== 'HTTP/1.1 200') throw new Error(`${url}: ${head}`)
}

export async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}
