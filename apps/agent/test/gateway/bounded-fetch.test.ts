import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { boundedFetch } from '../../src/gateway/bounded-fetch.ts'

const MEBIBYTE = 1024 * 1024

let url: string
let answer: RequestListener
const server = createServer((request, response) => answer(request, response))
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

function sending(status: number, mebibytes: number): RequestListener {
  const pieces = Array.from({ length: mebibytes }, () => Buffer.alloc(MEBIBYTE, ' '))
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    Readable.from([...pieces, '{}']).pipe(response)
  }
}

describe('a response of the gateway', () => {
  const bounded = boundedFetch(() => {})

  it('keeps its status, headers and body', async () => {
    const statuses: number[] = []
    const bounded = boundedFetch((status) => statuses.push(status))
    answer = sending(402, 1)
    const response = await bounded(`${url}/v1/keys`)
    expect([response.status, response.headers.get('content-type')]).toEqual([402, 'application/json'])
    expect(await response.json()).toEqual({})
    answer = (_request, response) => response.writeHead(204).end()
    expect((await bounded(`${url}/v1/keys`)).body).toBeNull()
    expect(statuses).toEqual([402, 204])
  })

  it.each([
    ['/v1/keys', 200],
    ['/v1/keys', 500],
    ['/f/token', 500],
  ])('T-11 is aborted when it is too large, from %s with status %i', { tags: ['nightly'] }, async (path, status) => {
    answer = sending(status, 40)
    await expect(bounded(url + path).then((response) => response.text())).rejects.toThrow(RangeError)
  })

  it('T-11 is streamed without a limit when it is a file', { tags: ['nightly'] }, async () => {
    answer = sending(200, 40)
    const { body } = await bounded(`${url}/f/token`)
    let received = 0
    for await (const chunk of body!) received += chunk.length
    expect(received).toBe(40 * MEBIBYTE + 2)
  })
})
