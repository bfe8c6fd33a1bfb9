import { describe, expect, it } from 'vitest'
import { EVM, NETWORKS, networkNamed, PRIMARY } from '../src/networks.ts'

describe('networks', () => {
  it('PAY-16 the CAIP-2 ids come from the genesis hash and the chain id', () => {
    expect(PRIMARY.caip2).toBe(`solana:${PRIMARY.genesisHash.slice(0, 32)}`)
    expect(EVM.caip2).toBe(`eip155:${EVM.chainId}`)
  })

  it('PAY-05 PAY-32 a friendly name, a CAIP-2 id or an old test name gives a mainnet', () => {
    for (const text of ['primary-mainnet', PRIMARY.caip2, 'primary-devnet', 'primary-testnet']) {
      expect(networkNamed(text)).toBe(PRIMARY)
    }
    for (const text of ['evm-mainnet', 'eip155:143', 'evm-devnet', 'evm-testnet']) {
      expect(networkNamed(text)).toBe(EVM)
    }
    expect(NETWORKS.map(({ name }) => name)).toEqual(['primary-mainnet', 'evm-mainnet'])
  })

  it.each(['', 'primary', 'Primary-Mainnet', 'eip155:1', 'eip155:0143', 'solana', 'constructor', '__proto__'])(
    'PAY-05 "%s" names no network',
    (text) => {
      expect(networkNamed(text)).toBeNull()
    },
  )
})
