import { expect, it } from 'vitest'
import { explorerUrl } from '../src/explorer.ts'

const service = 'https://gateway.example'

it('explorerUrl links transactions of public networks to their explorers', () => {
  const linkOf = (network: string, tx: string) => explorerUrl({ network, tx, service })
  expect(linkOf('solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', '2Ana')).toBe('https://explorer.solana.com/tx/2Ana')
  expect(linkOf('primary-devnet', '2Ana')).toBe('https://explorer.solana.com/tx/2Ana?cluster=devnet')
  expect(linkOf('evm-mainnet', '0xab')).toBe('https://monadscan.com/tx/0xab')
})

it('explorerUrl is null for local chains, unknown networks and invalid ids', () => {
  const tx = '2Ana'
  expect(explorerUrl({ network: 'evm-mainnet', tx, service: 'http://localhost:8402' })).toBeNull()
  expect(explorerUrl({ network: 'eip155:1', tx, service })).toBeNull()
  expect(explorerUrl({ network: 'constructor', tx, service })).toBeNull()
  expect(explorerUrl({ network: 'evm-mainnet', tx: '../x?y', service })).toBeNull()
})
