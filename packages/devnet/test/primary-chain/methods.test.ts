import { generateKeyPairSigner, lamports } from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { forAllTests } from '@svc/devnet/for-tests'
import { describe, expect, it } from 'vitest'
import { DEMO_PAYERS, MINTS, type TokenAsset, tokenAccountOf } from '../../src/primary-chain/dev-accounts.ts'
import { call, post, type RpcAnswer, startTestChain } from '../../src/primary-chain/dev-client.ts'

const payer = DEMO_PAYERS[0]!

describe('the primary chain', () => {
  const running = forAllTests(() => startTestChain({ landing: 'at once' }))
  const faucet = (...params: unknown[]) => call(running.url, 'dev_faucet', params)

  it('returns accounts completely or in part, with exact u64 values', async () => {
    const { rpc } = running
    const at = await tokenAccountOf(payer.address, 'USDC')
    const { value: whole } = await rpc.getAccountInfo(at, { encoding: 'base64' }).send()
    expect(whole).toMatchObject({ owner: TOKEN_PROGRAM_ADDRESS, space: 165n, lamports: 2_039_280n })
    expect(whole).toMatchObject({ rentEpoch: 18_446_744_073_709_551_615n })
    const part = { encoding: 'base58', dataSlice: { offset: 0, length: 32 } } as const
    expect((await rpc.getAccountInfo(at, part).send()).value?.data).toEqual([MINTS.USDC.mint, 'base58'])
    const tooLong = await call(running.url, 'getAccountInfo', [at, { encoding: 'base58' }])
    expect(tooLong.error?.message).toContain('please use Base64 encoding')
  })

  it.each([
    ['getBalance', []],
    ['getBalance', ['not an address']],
    ['getBalance', [payer.address, { commitment: 'soon' }]],
    ['getAccountInfo', [payer.address, { encoding: 'rot13' }]],
    ['getMultipleAccounts', [Array(101).fill(payer.address)]],
    ['getTokenAccountBalance', [payer.address]],
    ['getTokenSupply', [payer.address]],
    ['getTokenAccountsByOwner', [payer.address, {}]],
    ['getTokenAccountsByOwner', [payer.address, { mint: payer.address }]],
    ['getSignatureStatuses', [['short']]],
    ['getSignatureStatuses', [Array(257).fill('1'.repeat(64))]],
    ['getTransaction', [payer.address]],
    ['getBlockTime', ['1']],
    ['isBlockhashValid', ['0']],
    ['getFeeForMessage', ['AAAA']],
    ['requestAirdrop', [payer.address]],
    ['sendTransaction', ['AAAA', { encoding: 'base64' }]],
    ['sendTransaction', ['not base58: 0OIl']],
    ['sendTransaction', ['A'.repeat(2_000), { encoding: 'base64' }]],
    ['sendTransaction', ['AAAA', { encoding: 'hex' }]],
    ['simulateTransaction', ['', {}]],
    ['getSlot', { commitment: 'finalized' }],
  ])('refuses the request %s with invalid params %j', async (method, params) => {
    expect((await call(running.url, method, params)).error?.code).toBe(-32602)
  })

  it('answers the requests of a batch in order with their ids, and does not answer notifications', async () => {
    const batch = [
      { jsonrpc: '2.0', id: 'a', method: 'getHealth' },
      { jsonrpc: '2.0', method: 'getHealth' },
      { jsonrpc: '2.0', id: 2, method: 'constructor' },
      17,
    ]
    const answers = JSON.parse((await post(running.url, JSON.stringify(batch))).text) as RpcAnswer[]
    const summary = answers.map(({ id, result, error }) => [id, result ?? error?.code])
    expect(summary).toEqual([
      ['a', 'ok'],
      [2, -32601],
      [null, -32600],
    ])
  })

  it.each([
    ['{', -32700],
    ['[]', -32600],
    ['{"id":1}', -32600],
  ])('answers the body %s with the error %i', async (body, code) => {
    expect((JSON.parse((await post(running.url, body)).text) as RpcAnswer).error?.code).toBe(code)
  })

  it('refuses a body of more than one megabyte, other methods than POST, and other types than JSON', async () => {
    expect((await post(running.url, 'x'.repeat(1024 * 1024 + 1))).status).toBe(413)
    expect((await fetch(running.url)).status).toBe(405)
    expect((await post(running.url, '{}', 'text/plain')).status).toBe(415)
  })

  it('grants SOL by a real transaction, and by requestAirdrop', async () => {
    const { address } = await generateKeyPairSigner()
    const { result } = await faucet(address, 'SOL', '1.5')
    await running.rpc.requestAirdrop(address, lamports(7n)).send()
    expect((await running.rpc.getBalance(address).send()).value).toBe(1_500_000_007n)
    const found = await call(running.url, 'getTransaction', [result, { maxSupportedTransactionVersion: 0 }])
    expect(found.result).toMatchObject({ meta: { err: null } })
  })

  it.each(Object.keys(MINTS) as TokenAsset[])('grants %s with and without a token account', async (asset) => {
    const { address } = await generateKeyPairSigner()
    await faucet(address, asset, 2)
    await faucet(address, asset, '3')
    const { value } = await running.rpc.getTokenAccountBalance(await tokenAccountOf(address, asset)).send()
    expect(value.uiAmountString).toBe('5')
  })

  it.each([
    ['DOGE', 1, `one of ${['SOL', ...Object.keys(MINTS)].join(', ')}`],
    ['SOL', undefined, 'decimal number in display units'],
    ['SOL', 0, 'above 0'],
    ['USDC', '0.0000001', '6 decimals'],
    ['USDC', '1'.repeat(30), '64 bits'],
  ])('does not grant %s %s, and suggests what to do', async (asset, amount, advice) => {
    const { error } = await faucet(payer.address, asset, amount)
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(advice) })
  })
})
