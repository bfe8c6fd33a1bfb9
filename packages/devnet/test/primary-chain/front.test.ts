import { getBase64EncodedWireTransaction } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_PAYERS, TREASURY } from '../../src/primary-chain/dev-accounts.ts'
import { call, post, type RpcAnswer, sign, signerOf, startTestChain } from '../../src/primary-chain/dev-client.ts'

describe('the JSON-RPC interface of the primary chain', () => {
  let running: Awaited<ReturnType<typeof startTestChain>>
  beforeAll(async () => {
    running = await startTestChain()
  })
  afterAll(() => running.stop())

  const codeOf = async (body: string) => (JSON.parse((await post(running.url, body)).text) as RpcAnswer).error?.code

  it('answers the requests of a batch in order with their ids, and no notifications', async () => {
    const batch = [
      { jsonrpc: '2.0', id: 'a', method: 'getHealth' },
      { jsonrpc: '2.0', method: 'getHealth' },
      { jsonrpc: '2.0', id: 2, method: 'noSuchMethod' },
      { jsonrpc: '2.0', id: 3, method: 'getBalance', params: ['x'] },
      17,
    ]
    const { text } = await post(running.url, JSON.stringify(batch))
    const answers = JSON.parse(text) as RpcAnswer[]
    expect(answers.map(({ id, result, error }) => [id, result ?? error?.code])).toEqual([
      ['a', 'ok'],
      [2, -32601],
      [3, -32602],
      [null, -32600],
    ])
  })

  it('reports the problem with an invalid body', async () => {
    expect(await codeOf('{')).toBe(-32700)
    expect(await codeOf('')).toBe(-32700)
    expect(await codeOf('[]')).toBe(-32600)
    expect(await codeOf('null')).toBe(-32600)
    expect(await codeOf('{"id":1}')).toBe(-32600)
    expect(await codeOf('{"id":{},"method":"getHealth"}')).toBe(-32600)
    expect(await codeOf('{"id":1,"method":"constructor"}')).toBe(-32601)
    expect(await codeOf('{"id":1,"method":"getBalance","params":{"a":1}}')).toBe(-32602)
  })

  it('answers a single notification with an empty body', async () => {
    expect(await post(running.url, '{"jsonrpc":"2.0","method":"getHealth"}')).toMatchObject({ status: 200, text: '' })
  })

  it('reads a body of one megabyte, and refuses a longer one', async () => {
    expect(await codeOf('x'.repeat(1024 * 1024))).toBe(-32700)
    expect((await post(running.url, 'x'.repeat(1024 * 1024 + 1))).status).toBe(413)
    expect((await call(running.url, 'getHealth')).result).toBe('ok')
  })

  it('accepts only POST with application/json', async () => {
    expect((await fetch(running.url)).status).toBe(405)
    expect((await post(running.url, '{}', 'text/plain')).status).toBe(415)
    expect(await (await fetch(`${running.url}/health`)).text()).toBe('ok')
  })

  it('accepts requests from web pages of any origin', async () => {
    const preflight = await fetch(running.url, {
      method: 'OPTIONS',
      headers: { origin: 'https://wallet.example', 'access-control-request-headers': 'content-type,solana-client' },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type,solana-client')
    const { headers } = await post(running.url, '{"id":1,"method":"getHealth"}')
    expect(headers.get('access-control-allow-origin')).toBe('*')
  })

  it('never has an internal error when bytes of a transaction are changed', async () => {
    const payer = await signerOf(DEMO_PAYERS[0]!)
    const transaction = await sign(running.rpc, payer, [
      getTransferSolInstruction({ source: payer, destination: TREASURY.address, amount: 1n }),
    ])
    const good = Buffer.from(getBase64EncodedWireTransaction(transaction), 'base64')
    const methods = ['sendTransaction', 'simulateTransaction']
    const position = fc.nat(good.length - 1)
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...methods),
        position,
        fc.nat(255),
        fc.boolean(),
        async (method, at, byte, cut) => {
          const bytes = cut ? good.subarray(0, at) : Buffer.from(good)
          if (!cut) bytes[at] = byte
          const config = { encoding: 'base64', skipPreflight: byte % 2 === 0 }
          const answer = await call(running.url, method, [bytes.toString('base64'), config])
          expect(answer.error?.code).not.toBe(-32603)
        },
      ),
      { numRuns: 100 },
    )
  })
})
