import diagnostics from 'node:diagnostics_channel'
import { type ClientRequest, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { problemWith } from '@svc/devnet/properties/made-up-input'
import { accepted, depthOf, json, must, mustEqual, text } from '@svc/devnet/properties/rules'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectJsonRpc, connectJsonRpcBatch, parseJson } from '../../src/nodes/json-rpc.ts'
import { NodeProblem } from '../../src/nodes/node-pool.ts'

let answer: (request: IncomingMessage, response: ServerResponse, body: string) => void
let connections = 0
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  answer(request, response, Buffer.concat(chunks).toString())
}).on('connection', () => {
  connections += 1
})
let url: string
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const withResult = (result: string) => (_: IncomingMessage, response: ServerResponse, question: string) =>
  void response.end(`{"jsonrpc":"2.0","id":${JSON.parse(question).id},"result":${result}}`)
const soon = () => AbortSignal.timeout(20_000)

describe('a JSON-RPC call', () => {
  it('reuses its connection for the next call', async () => {
    const rpc = connectJsonRpc(url)
    const before = connections
    answer = (request, response, body) => withResult(JSON.stringify(body))(request, response, body)
    const sent = await rpc('one', [], soon())
    expect(JSON.parse(String(sent))).toEqual({ jsonrpc: '2.0', id: 1, method: 'one', params: [] })
    await rpc('two', [], soon())
    expect(connections - before).toBe(1)
  })

  it('shares a request with equal calls of the same turn, but not with a running call', async () => {
    const rpc = connectJsonRpc(url)
    const methods: string[] = []
    answer = (request, response, body) => {
      methods.push(JSON.parse(body).method)
      withResult(String(methods.length))(request, response, body)
    }
    const together = [rpc('one', ['a'], soon()), rpc('one', ['a'], soon()), rpc('one', ['b'], soon())]
    expect(new Set(await Promise.all(together))).toEqual(new Set([1, 2]))
    expect(methods).toEqual(['one', 'one'])
    const first = rpc('two', [], soon())
    await setImmediate()
    expect(await Promise.all([first, rpc('two', [], soon())])).toEqual([3, 4])
  })

  it('uses a new connection when the node has closed the old one', async () => {
    const rpc = connectJsonRpc(url)
    answer = withResult('1')
    await rpc('one', [], soon())
    let isFirst = true
    answer = (request, response, body) => {
      if (!isFirst) return withResult('2')(request, response, body)
      isFirst = false
      request.socket.resetAndDestroy()
    }
    expect(await rpc('two', [], soon())).toBe(2)
  })

  it('uses a new connection when the old one turns out closed while writing', async () => {
    const rpc = connectJsonRpc(url)
    answer = withResult('1')
    await rpc('one', [], soon())
    const START = 'http.client.request.start'
    let broken = 0
    const breakReused = (message: unknown) => {
      const { request } = message as { request: ClientRequest }
      if (!request.reusedSocket) return
      broken += 1
      request.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    }
    diagnostics.subscribe(START, breakReused)
    expect(await rpc('two', [], soon()).finally(() => diagnostics.unsubscribe(START, breakReused))).toBe(1)
    expect(broken).toBe(1)
  })

  it('follows redirects that keep the method and body', async () => {
    answer = (request, response, body) => {
      if (request.url === '/new') withResult('"here"')(request, response, body)
      else response.writeHead(308, { location: '/new' }).end()
    }
    expect(await connectJsonRpc(`${url}/old`)('one', [], soon())).toBe('here')
    answer = (_, response) => response.writeHead(307, { location: '/old' }).end()
    await expect(connectJsonRpc(url)('one', [], soon())).rejects.toThrow('HTTP 307')
  })

  it('ends with its signal, even in the middle of an answer', async () => {
    const stop = new AbortController()
    answer = (_, response) => {
      response.write('{"result":')
      stop.abort(new Error('too late'))
    }
    await expect(connectJsonRpc(url)('one', [], stop.signal)).rejects.toThrow('too late')
    await expect(connectJsonRpc(url)('one', [], stop.signal)).rejects.toThrow('too late')
  })

  it('T-45 accepts no answer to another question, in any order of answers', async () => {
    const rpc = connectJsonRpc(url)
    answer = withResult('1')
    await rpc('one', [], soon())
    answer = (_, response) => response.end('{"jsonrpc":"2.0","id":1,"result":1}')
    await expect(rpc('two', [], soon())).rejects.toThrow('an answer to another question')
    answer = (_, response) => response.end('{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}')
    await expect(rpc('three', [], soon())).rejects.toThrow('an answer to another question')
    // The answer of a node that could not read the question.
    answer = (_, response) => response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}')
    await expect(rpc('four', [], soon())).rejects.toThrow('error -32700')

    const batch = connectJsonRpcBatch(url)
    const questions = [
      ['one', []],
      ['two', []],
    ] as [string, unknown[]][]
    let last = '[]'
    answer = (_, response, body) => {
      const asked = JSON.parse(body) as { id: number; method: string }[]
      last = JSON.stringify(asked.map(({ id, method }) => ({ id, result: method })).reverse())
      response.end(last)
    }
    expect(await batch(questions, soon())).toEqual(['one', 'two'])
    answer = (_, response) => response.end(last)
    await expect(batch(questions, soon())).rejects.toThrow('an answer of the wrong form')
  })

  it.each([
    ['<html>', 'an answer that is not JSON'],
    [`${'['.repeat(100_000)}1234567890123456789${']'.repeat(100_000)}`, 'an answer that is not JSON'],
    ['{"error":{"code":{"valueOf":1},"message":{"toString":1}}}', 'error NaN'],
    ['{"error":"x"}', 'error NaN'],
  ])('T-129 reports the problem of the answer %.60s', async (text, problem) => {
    answer = (_, response) => response.end(text)
    const failure = await connectJsonRpc(url)('one', [], soon()).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(NodeProblem)
    expect(failure).toMatchObject({ message: problem })
  })

  it('rejects an answer that is too long', async () => {
    answer = (_, response) => response.end(Buffer.alloc(11 * 1_048_576, 32))
    await expect(connectJsonRpc(url)('one', [], soon())).rejects.toThrow('an answer that is too long')
  })

  it.each([
    ['ftp://127.0.0.1/', 'an address that is not an HTTP URL'],
    ['not a url', 'an address that is not a URL'],
    ['http://127.0.0.1:1', 'no connection: ECONNREFUSED'],
  ])('reports the problem of the address %s', async (address, problem) => {
    await expect(connectJsonRpc(address)('one', [], soon())).rejects.toThrow(problem)
  })
})

describe('reading JSON', () => {
  it('T-129 reads integers exactly only up to 256 bits', () => {
    expect(parseJson(`[${'9'.repeat(78)}]`)).toEqual([BigInt('9'.repeat(78))])
    expect(parseJson(`[${'9'.repeat(79)},-${'9'.repeat(5_000_000)}]`)).toEqual([1e79, Number.NEGATIVE_INFINITY])
  })

  it('reads integers exactly that a double cannot represent', () => {
    const text =
      '{"a":18446744073709551615,"b":[-9007199254740993],"c":9007199254740991,"d":0.1234567890123456,"e":"12345678901234567890","f": [ -12345678901234567890 ,\n 12345678901234567890]}'
    expect(parseJson(text)).toEqual({
      a: 18_446_744_073_709_551_615n,
      b: [-9_007_199_254_740_993n],
      c: 9_007_199_254_740_991,
      d: 0.1234567890123456,
      e: '12345678901234567890',
      f: [-12_345_678_901_234_567_890n, 12_345_678_901_234_567_890n],
    })
  })
})

it('T-129 no made-up input breaks the rules of JSON of nodes', async () => {
  expect(
    await problemWith({
      examples: [
        '{"jsonrpc":"2.0","id":1,"result":{"value":18446744073709551615,"slot":7,"price":0.1234567890123456}}',
        '{"error":{"code":-32603,"message":"12345678901234567890"}}',
      ],
      words: ['[', ']', '{', '}', '1234567890123456', '-', '.', 'e5', '"', '\\', ',', ':', 'null'],
      isJson: true,
      isCostly: true,
      maxBytes: 1_000_000,
      rule(input) {
        const read = accepted(NodeProblem, () => ({ value: parseJson(text(input)) }))
        const native = json(input)
        if (depthOf(native) >= 1000) return
        must((read === null) === (native === undefined), 'accepts other texts than JSON.parse')
        // All values except long integers equal those of JSON.parse.
        if (read) mustEqual(withoutBigInts(read.value), native, 'reads another value than JSON.parse')
      },
    }),
  ).toBeNull()
})

function withoutBigInts(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutBigInts)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutBigInts(inner)]))
}
