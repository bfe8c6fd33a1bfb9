import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningEvmChain, startEvmChain } from '../../src/evm-chain/start.ts'

let running: RunningEvmChain

beforeAll(async () => {
  running = await startEvmChain({ port: 0 })
})

afterAll(() => running.stop())

async function post(body: unknown): Promise<unknown> {
  const response = await fetch(running.url, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json')
  return response.json()
}

function call(method: string, params: unknown[] = [], id: number | string = 1) {
  return { jsonrpc: '2.0', id, method, params }
}

function error(code: number, id: number | string | null = null) {
  return { jsonrpc: '2.0', id, error: { code, message: expect.any(String) } }
}

test('the EVM chain answers a batch in order, with results and errors', async () => {
  const batch = [call('eth_chainId', [], 'a'), call('eth_nothing', [], 2), null, call('eth_blockNumber', [], 3)]
  expect(await post(batch)).toEqual([
    { jsonrpc: '2.0', id: 'a', result: '0x8f' },
    error(-32004, 2),
    error(-32600),
    { jsonrpc: '2.0', id: 3, result: '0x1' },
  ])
})

test('the EVM chain executes a batch in order', async () => {
  const [, mined, after] = (await post([call('evm_snapshot'), call('evm_mine'), call('eth_blockNumber')])) as {
    result: string
  }[]
  expect([mined?.result, after?.result]).toEqual(['0', '0x2'])
})

test.each([
  ['invalid JSON', '{"jsonrpc":', -32700],
  ['an empty body', '', -32700],
  ['an empty batch', '[]', -32600],
  ['a bare number', '5', -32600],
  ['null', 'null', -32600],
  ['another JSON-RPC version', { ...call('eth_chainId'), jsonrpc: '1.0' }, -32600],
  ['a request without an id', { jsonrpc: '2.0', method: 'eth_chainId' }, -32600],
  ['a method that is not a string', { ...call('x'), method: 5 }, -32600],
  ['named params', { ...call('eth_chainId'), params: {} }, -32600],
])('the EVM chain answers %s with an error that has no id', async (_, body, code) => {
  expect(await post(body)).toEqual(error(code))
})

test('the EVM chain refuses a body that is too long', async () => {
  expect(await post(`"${'x'.repeat(9_000_000)}"`)).toEqual(error(-32700))
})

test.each([
  ['eth_nothing', [], -32004],
  ['hardhat_reset', [], -32004],
  ['toString', [], -32004],
  ['eth_getBlockByNumber', ['newest', false], -32602],
  ['eth_getTransactionReceipt', ['0x12'], -32602],
  ['eth_sendRawTransaction', ['0x00'], -32602],
  ['eth_call', [], -32602],
  ['evm_increaseTime', ['soon'], -32602],
  ['evm_setNextBlockTimestamp', ['soon'], -32602],
])('the EVM chain answers %s with %j with an error that has the id of the request', async (method, params, code) => {
  expect(await post(call(method, params, 7))).toEqual(error(code, 7))
})

test('web pages may call the EVM chain: the preflight and the answer have CORS headers', async () => {
  const headers = {
    origin: 'http://localhost:8402',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type',
  }
  const preflight = await fetch(running.url, { method: 'OPTIONS', headers })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
  expect(preflight.headers.get('access-control-allow-methods')).toContain('POST')
  expect(preflight.headers.get('access-control-allow-headers')).toBe('*')
  const answer = await fetch(running.url, { method: 'POST', body: JSON.stringify(call('eth_chainId')), headers })
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
})

test('starting an EVM chain on a port that is in use is an error', async () => {
  const port = Number(new URL(running.url).port)
  await expect(startEvmChain({ port })).rejects.toThrow('EADDRINUSE')
})
