import { generateKeyPairSigner, lamports } from '@solana/kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MINTS, type TokenAsset, tokenAccountOf } from '../../src/primary-chain/dev-accounts.ts'
import { call, startTestChain } from '../../src/primary-chain/dev-client.ts'

describe('the faucet of the primary chain', () => {
  let running: Awaited<ReturnType<typeof startTestChain>>
  beforeAll(async () => {
    running = await startTestChain({ landing: 'at once' })
  })
  afterAll(() => running.stop())

  const faucet = (...params: unknown[]) => call(running.url, 'dev_faucet', params)

  it('grants SOL by a real transaction, and by requestAirdrop', async () => {
    const { address } = await generateKeyPairSigner()
    const { result } = await faucet(address, 'SOL', '1.5')
    await running.rpc.requestAirdrop(address, lamports(7n)).send()
    expect((await running.rpc.getBalance(address).send()).value).toBe(1_500_000_007n)
    const found = await call(running.url, 'getTransaction', [result, { maxSupportedTransactionVersion: 0 }])
    expect(found.result).toMatchObject({ meta: { err: null } })
  })

  it.each(Object.keys(MINTS) as TokenAsset[])(
    'grants %s, and creates the token account when there is none',
    async (asset) => {
      const { address } = await generateKeyPairSigner()
      await faucet(address, asset, 2)
      await faucet(address, asset, '3')
      const { value } = await running.rpc.getTokenAccountBalance(await tokenAccountOf(address, asset)).send()
      expect(value.uiAmountString).toBe('5')
    },
  )

  it('grants the same request many times at once', async () => {
    const { address } = await generateKeyPairSigner()
    const answers = await Promise.all(Array.from({ length: 20 }, () => faucet(address, 'USDC', '0.000001')))
    expect(new Set(answers.map(({ result }) => result)).size).toBe(20)
    const { value } = await running.rpc.getTokenAccountBalance(await tokenAccountOf(address, 'USDC')).send()
    expect(value.amount).toBe('20')
  })

  it.each([
    [['nobody', 'SOL', 1], 'base58'],
    [['11111111111111111111111111111112', 'DOGE', 1], 'one of SOL, USDC, USDT, WETH, BETA'],
    [['11111111111111111111111111111112', 'SOL'], 'decimal number in display units'],
    [['11111111111111111111111111111112', 'SOL', '-1'], 'decimal number in display units'],
    [['11111111111111111111111111111112', 'SOL', '1e3'], 'decimal number in display units'],
    [['11111111111111111111111111111112', 'SOL', 0], 'above 0'],
    [['11111111111111111111111111111112', 'BETA', '0.5'], '0 decimals'],
    [['11111111111111111111111111111112', 'USDC', '0.0000001'], '6 decimals'],
    [['11111111111111111111111111111112', 'USDC', '1'.repeat(30)], '64 bits'],
    [[], 'at least 1'],
  ])('refuses %j and says what to do', async (params, advice) => {
    const { error } = await faucet(...params)
    expect(error?.code).toBe(-32602)
    expect(error?.message).toContain(advice)
  })

  it('refuses an airdrop that is too small for a new account, and records nothing', async () => {
    const { address } = await generateKeyPairSigner()
    const { error } = await call(running.url, 'requestAirdrop', [address, 1])
    expect(error?.message).toContain('insufficient funds for rent')
    expect((await running.rpc.getBalance(address).send()).value).toBe(0n)
  })
})
