import { findAsset } from '@svc/api/assets'
import { EVM, type Network, PRIMARY } from '@svc/api/networks'
import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { startFaultyNode } from '@svc/devnet/faulty-node'
import { forAllTests } from '@svc/devnet/for-tests'
import { startLocalChains } from '@svc/devnet/local-chains'
import { DEMO_PAYERS, MINTS, TREASURY, tokenAccountOf } from '@svc/devnet/primary-chain/dev-accounts'
import { describe, expect, it } from 'vitest'
import { type ReadDecimals, watchDecimals } from '../src/decimals.ts'
import { createEvmDecimalsReader } from '../src/evm/token-decimals.ts'
import { configuredLegs, type Leg } from '../src/legs.ts'
import { createSolanaDecimalsReader } from '../src/solana/token-decimals.ts'

const chains = forAllTests(() => startLocalChains())

const NOBODY = 'http://127.0.0.1:1'

describe('decimals on chain', () => {
  it('PAY-26 T-22 are read from mints only', async () => {
    const read = createSolanaDecimalsReader(PRIMARY, [NOBODY, chains.primary.url])
    const mints = [MINTS.USDC.mint, MINTS.WETH.mint, MINTS.BETA.mint]
    expect(await read(mints)).toEqual([6, 8, 0])
    const others = [DEMO_PAYERS[0]!.address, await tokenAccountOf(TREASURY.address, 'USDC'), PRIMARY.nativeAsset]
    expect((await read([...others, ...mints])).slice(0, 2)).toEqual([null, null])
    await expect(createSolanaDecimalsReader(PRIMARY, [NOBODY])(mints)).rejects.toThrow(
      'no node of the primary chain answers',
    )
  })

  it('PAY-26 T-22 are read from contracts only', async () => {
    const read = createEvmDecimalsReader(EVM, [NOBODY, chains.evm.url])
    const multicall = '0xcA11bde05977b3631167028862bE2a173976CA11'
    const tokens = [TOKENS.USDC.address, TOKENS.WETH.address]
    expect(await read([...tokens, multicall, `0x${'ab'.repeat(20)}`])).toEqual([6, 18, null, null])
    await expect(createEvmDecimalsReader(EVM, [NOBODY])(tokens)).rejects.toThrow('no node of the EVM chain answers')
  })
})

describe('legs', () => {
  const treasuries = new Map<Network, string>([[EVM, `0x${'ab'.repeat(20)}`]])
  const tokens = (address: string): Promise<Leg[]> =>
    configuredLegs({ treasuries, assets: [{ of: findAsset(EVM, 'USDC')!, address }] })

  async function watch(address: string, read: ReadDecimals) {
    const legs = await tokens(address)
    const wrong: string[] = []
    let time = 0
    const watched = watchDecimals({
      legs,
      read: () => read,
      now: () => time,
      onWrong: ({ of }, problem) => wrong.push(`${of.ticker}: ${problem}`),
    })
    const wait = (ms: number) => {
      time += ms
    }
    return { watched, legs, wrong, wait }
  }

  it('T-22 a token with other decimals is not sold, and is reported once', async () => {
    const { watched, wrong, legs, wait } = await watch(
      TOKENS.WETH.address,
      createEvmDecimalsReader(EVM, [chains.evm.url]),
    )
    for (let i = 0; i < 3; i++) {
      expect((await watched.checked()).size).toBe(0)
      wait(5_000)
    }
    expect(wrong).toEqual(['USDC: the chain reports 18'])
    expect([...watched.problems()]).toEqual([
      [legs[0], `USDC on evm-mainnet (${TOKENS.WETH.address}) must have 6 decimals, but the chain reports 18`],
    ])
  })

  it('T-22 a token is not sold until its decimals are read, and is sold from then on', async () => {
    const node = await startFaultyNode(chains.evm.url, () => ({ status: 500, body: '' }))
    const { watched, wrong, wait } = await watch(TOKENS.USDC.address, createEvmDecimalsReader(EVM, [node.url]))
    expect((await watched.checked()).size).toBe(0)
    expect([...watched.problems().values()]).toEqual(['the decimals of USDC on evm-mainnet could not be read yet'])
    node.behave(async ({ honest }) => ({ body: await honest() }))
    const asked = node.calls.length
    await watched.checked()
    expect(node.calls.length).toBe(asked)
    wait(5_000)
    await expect.poll(async () => (await watched.checked()).size).toBe(1)
    expect([watched.problems().size, wrong]).toEqual([0, []])
    await node.stop()
    wait(60_000)
    expect((await watched.checked()).size).toBe(1)
  })
})
