import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { MINTS } from '@svc/devnet/primary-chain/dev-accounts'
import { describe, expect, it } from 'vitest'
import { ASSETS, findAsset } from '../src/assets.ts'
import { EVM, NETWORKS, PRIMARY } from '../src/networks.ts'

describe('assets', () => {
  it('PAY-25 AMB-08 each network has exactly its assets, in the order of the table', () => {
    const tickers = NETWORKS.map((network) =>
      ASSETS.filter((asset) => asset.network === network).map(({ ticker }) => ticker),
    )
    expect(tickers).toEqual([
      ['SOL', 'USDC', 'USDT', 'WETH', 'BETA'],
      ['MON', 'USDC', 'USDT0', 'WETH'],
    ])
    expect(ASSETS[0]).toBe(findAsset(PRIMARY, 'SOL'))
    expect(ASSETS[5]).toBe(findAsset(EVM, 'MON'))
  })

  it('PAY-26 decimals and addresses agree with the tokens on the chains', () => {
    for (const [network, tokens] of [
      [PRIMARY, Object.entries(MINTS).map(([ticker, token]) => ({ ticker, ...token, address: token.mint }))],
      [EVM, Object.entries(TOKENS).map(([ticker, token]) => ({ ticker, ...token }))],
    ] as const) {
      for (const { ticker, decimals, address } of tokens) {
        const asset = findAsset(network, ticker)!
        expect(asset.decimals).toBe(decimals)
        if (asset.defaultAddress !== null) expect(asset.defaultAddress).toBe(address)
      }
    }
  })

  it('AMB-14 tickers are found in any case, on their own network only', () => {
    expect(findAsset(PRIMARY, 'usdc')).toBe(findAsset(PRIMARY, 'USDC'))
    expect(findAsset(EVM, 'uSdT0')?.ticker).toBe('USDT0')
    for (const ticker of ['USDT0', 'MON', '', 'uſdc', 'constructor']) expect(findAsset(PRIMARY, ticker)).toBeNull()
    for (const ticker of ['USDT', 'SOL', 'BETA']) expect(findAsset(EVM, ticker)).toBeNull()
  })
})
