import { zstdDecompressSync } from 'node:zlib'
import { type Address, address, fetchEncodedAccount, generateKeyPairSigner } from '@solana/kit'
import { decodeMint, fetchToken, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  DEMO_PAYERS,
  GENESIS_HASH,
  MINT_AUTHORITY,
  MINTS,
  PUBLICATION,
  TREASURY,
  tokenAccountOf,
} from '../../src/primary-chain/dev-accounts.ts'
import { call, startTestChain } from '../../src/primary-chain/dev-client.ts'
import { TOKEN_2022_PROGRAM_ADDRESS } from '../../src/primary-chain/transactions/accounts.ts'

describe('the primary chain', () => {
  let running: Awaited<ReturnType<typeof startTestChain>>
  const payer = DEMO_PAYERS[0]!
  beforeAll(async () => {
    running = await startTestChain({ landing: 'at once' })
  })
  afterAll(() => running.stop())

  it('has the genesis hash of mainnet, is healthy, and has its own version', async () => {
    const { rpc } = running
    expect(await rpc.getGenesisHash().send()).toBe(GENESIS_HASH)
    expect(await rpc.getHealth().send()).toBe('ok')
    expect((await rpc.getVersion().send())['solana-core']).toContain('litesvm')
    const info = await rpc.getEpochInfo({ commitment: 'processed' }).send()
    expect(info.absoluteSlot).toBe(await rpc.getSlot({ commitment: 'processed' }).send())
    expect(info.epoch * info.slotsInEpoch + info.slotIndex).toBe(info.absoluteSlot)
  })

  it('returns the rent and the time of a block, and refuses future blocks', async () => {
    const { rpc, clock } = running
    expect(await rpc.getMinimumBalanceForRentExemption(0n).send()).toBe(890_880n)
    expect(await rpc.getMinimumBalanceForRentExemption(165n).send()).toBe(2_039_280n)
    const slot = await rpc.getSlot({ commitment: 'processed' }).send()
    clock.time += 40_000
    expect(Number(await rpc.getBlockTime(slot + 50n).send())).toBe(Math.floor((clock.time - 20_000) / 1000))
    expect((await call(running.url, 'getBlockTime', [Number(slot) + 1_000])).error?.code).toBe(-32004)
  })

  it('starts with the assets, the treasury, the publication key and the payers', async () => {
    const { rpc } = running
    for (const [asset, { mint, decimals }] of Object.entries(MINTS) as [
      keyof typeof MINTS,
      { mint: Address; decimals: number },
    ][]) {
      const account = await fetchEncodedAccount(rpc, mint)
      if (!account.exists) throw new Error(`${asset} has no mint`)
      expect(decodeMint(account).data).toMatchObject({ decimals, mintAuthority: { value: MINT_AUTHORITY.address } })
      const treasury = await fetchToken(rpc, await tokenAccountOf(TREASURY.address, asset))
      expect(treasury.data).toMatchObject({ mint, owner: TREASURY.address, amount: 0n })
      for (const { address: owner } of DEMO_PAYERS) {
        const { value } = await rpc.getTokenAccountBalance(await tokenAccountOf(owner, asset)).send()
        expect(BigInt(value.amount)).toBeGreaterThan(0n)
        expect(value.decimals).toBe(decimals)
      }
      const { value: supply } = await rpc.getTokenSupply(mint).send()
      expect(BigInt(supply.amount)).toBeGreaterThan(0n)
    }
    const wallets = [TREASURY, PUBLICATION, ...DEMO_PAYERS]
    for (const wallet of wallets) expect((await rpc.getBalance(wallet.address).send()).value).toBeGreaterThan(890_880n)
    const native = await rpc.getTokenSupply(address('So11111111111111111111111111111111111111112')).send()
    expect(native.value.decimals).toBe(9)
  })

  it('returns accounts in every encoding, whole or in part', async () => {
    const { rpc } = running
    const at = await tokenAccountOf(payer.address, 'USDC')
    const { value: base64 } = await rpc.getAccountInfo(at, { encoding: 'base64' }).send()
    expect(base64).toMatchObject({ owner: TOKEN_PROGRAM_ADDRESS, executable: false, space: 165n, lamports: 2_039_280n })
    const bytes = Buffer.from(base64!.data[0], 'base64')
    const { value: zstd } = await rpc.getAccountInfo(at, { encoding: 'base64+zstd' }).send()
    expect(zstdDecompressSync(Buffer.from(zstd!.data[0], 'base64'))).toEqual(bytes)
    const { value: base58 } = await rpc
      .getAccountInfo(at, { encoding: 'base58', dataSlice: { offset: 0, length: 32 } })
      .send()
    expect(base58?.data).toEqual([MINTS.USDC.mint, 'base58'])
    const tooLong = await call(running.url, 'getAccountInfo', [at, { encoding: 'base58' }])
    expect(tooLong.error?.message).toContain('please use Base64 encoding')

    const { value: token } = await rpc.getAccountInfo(at, { encoding: 'jsonParsed' }).send()
    expect(token?.data).toMatchObject({
      program: 'spl-token',
      parsed: { type: 'account', info: { owner: payer.address, state: 'initialized', tokenAmount: { decimals: 6 } } },
    })
    const { value: mint } = await rpc.getAccountInfo(MINTS.WETH.mint, { encoding: 'jsonParsed' }).send()
    expect(mint?.data).toMatchObject({ parsed: { type: 'mint', info: { decimals: 8, isInitialized: true } } })
    const { value: wallet } = await rpc.getAccountInfo(payer.address, { encoding: 'jsonParsed' }).send()
    expect(wallet?.data).toEqual(['', 'base64'])
  })

  it('returns several accounts at once, with null for a missing one', async () => {
    const stranger = await generateKeyPairSigner()
    const { value } = await running.rpc.getMultipleAccounts([payer.address, stranger.address]).send()
    expect(value[0]).toMatchObject({ lamports: 1_000_000_000_000n })
    expect(value[1]).toBeNull()
    expect((await running.rpc.getBalance(stranger.address).send()).value).toBe(0n)
    expect((await running.rpc.getAccountInfo(stranger.address).send()).value).toBeNull()
  })

  it('finds token accounts by owner and mint or program', async () => {
    const { rpc } = running
    const config = { encoding: 'jsonParsed' } as const
    const byMint = await rpc.getTokenAccountsByOwner(payer.address, { mint: MINTS.BETA.mint }, config).send()
    expect(byMint.value.map(({ pubkey }) => pubkey)).toEqual([await tokenAccountOf(payer.address, 'BETA')])
    expect(byMint.value[0]?.account.data.parsed.info.tokenAmount.uiAmountString).toBe('1000000')
    const all = await rpc.getTokenAccountsByOwner(payer.address, { programId: TOKEN_PROGRAM_ADDRESS }, config).send()
    expect(all.value).toHaveLength(4)
    const none = await rpc
      .getTokenAccountsByOwner(payer.address, { programId: TOKEN_2022_PROGRAM_ADDRESS }, config)
      .send()
    expect(none.value).toEqual([])
  })

  it('writes u64 values exactly', async () => {
    const { value } = await running.rpc.getAccountInfo(payer.address, { encoding: 'base64' }).send()
    expect(value).toMatchObject({ rentEpoch: 18_446_744_073_709_551_615n })
  })

  it.each([
    ['getBalance', []],
    ['getBalance', ['not an address']],
    ['getBalance', [7]],
    ['getBalance', [payer.address, 'finalized']],
    ['getBalance', [payer.address, { commitment: 'soon' }]],
    ['getBalance', [payer.address, { minContextSlot: -1 }]],
    ['getAccountInfo', [payer.address, { encoding: 'rot13' }]],
    ['getAccountInfo', [payer.address, { encoding: 'base64', dataSlice: { offset: 0 } }]],
    ['getMultipleAccounts', [payer.address]],
    ['getMultipleAccounts', [Array(101).fill(payer.address)]],
    ['getTokenAccountBalance', [payer.address]],
    ['getTokenAccountBalance', ['11111111111111111111111111111112']],
    ['getTokenSupply', [payer.address]],
    ['getTokenAccountsByOwner', [payer.address]],
    ['getTokenAccountsByOwner', [payer.address, {}]],
    ['getTokenAccountsByOwner', [payer.address, { mint: payer.address }]],
    ['getTokenAccountsByOwner', [payer.address, { programId: payer.address }]],
    ['getSignatureStatuses', ['1'.repeat(64)]],
    ['getSignatureStatuses', [['short']]],
    ['getSignatureStatuses', [Array(257).fill('1'.repeat(64))]],
    ['getTransaction', [payer.address]],
    ['getBlockTime', [1.5]],
    ['getBlockTime', ['1']],
    ['isBlockhashValid', ['0']],
    ['getFeeForMessage', ['AAAA']],
    ['requestAirdrop', [payer.address]],
    ['requestAirdrop', [payer.address, -1]],
    ['sendTransaction', ['AAAA', { encoding: 'base64' }]],
    ['sendTransaction', ['not base58: 0OIl']],
    ['sendTransaction', ['A'.repeat(2_000), { encoding: 'base64' }]],
    ['sendTransaction', ['AAAA', { encoding: 'hex' }]],
    ['simulateTransaction', ['', {}]],
    ['getSlot', { commitment: 'finalized' }],
  ])('refuses the request %s with invalid params %j', async (method, params) => {
    expect((await call(running.url, method, params)).error?.code).toBe(-32602)
  })
})
