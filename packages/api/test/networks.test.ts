import { describe, expect, it } from 'vitest'
import { chainCheck, EVM, NETWORKS, networkNamed, PRIMARY } from '../src/networks.ts'

/** The accepted networks: family, name, CAIP-2 id, settings, check in /health. No other test repeats this list. */
const ON_THE_WIRE = [
  ['solana', 'primary-mainnet', 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', 'PRIMARY', 'primary_chain'],
  ['evm', 'evm-mainnet', 'eip155:143', 'EVM', 'evm_chain'],
]

describe('networks', () => {
  it('PAY-16 PAY-32 are declared in the order of the interface', () => {
    const declared = NETWORKS.map((one) => [one.family, one.name, one.caip2, one.settings, chainCheck(one)])
    expect(declared).toEqual(ON_THE_WIRE)
  })

  it('PAY-05 PAY-32 are found as mainnets by friendly name, CAIP-2 id or an old test name', () => {
    for (const text of ['primary-mainnet', PRIMARY.caip2, 'primary-devnet', 'primary-testnet']) {
      expect(networkNamed(text)).toBe(PRIMARY)
    }
    for (const text of ['evm-mainnet', 'eip155:143', 'evm-devnet', 'evm-testnet']) {
      expect(networkNamed(text)).toBe(EVM)
    }
  })

  it.each(['', 'primary', 'Primary-Mainnet', 'eip155:1', 'eip155:0143', 'solana', 'constructor', '__proto__'])(
    'PAY-05 "%s" names no network',
    (text) => {
      expect(networkNamed(text)).toBeNull()
    },
  )
})
