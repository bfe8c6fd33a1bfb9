// Adding a network of a known family changes only its declaration and its coin among the assets: CONTRIBUTING.md,
// "A network". These tests add one of each family and sell on a local chain.

import { NETWORKS } from '@svc/api/networks'
import { type StartedProcess, startProcess } from '@svc/devnet/start-process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ECLIPSE_ID = 'solana:EAQLJCV2mh23BsK2P9oYpV5CHVLDNHTx'

interface Result {
  checks: Record<string, string>
  described: string[]
  networks: { name: string; assets: string[] }[]
  quotes: string[][]
  bought: string[]
  signed: string
  sponsored: string[]
  held: [network: string, tickers: string[]][]
}

describe('a newly declared network', () => {
  let buying: StartedProcess
  let result: Result

  beforeAll(async () => {
    buying = startProcess(new URL('buy.ts', import.meta.url))
    const [, json = ''] = await buying.waitForLine(/^result (.*)$/)
    result = JSON.parse(json)
  })

  afterAll(async () => void (await buying.kill()))

  it('CFG-01 VER-20 gets nodes and a treasury from its settings, and a described check in /health', () => {
    expect(result.checks).toMatchObject({ primary_chain: 'ok', evm_chain: 'ok', base_chain: 'ok', eclipse_chain: 'ok' })
    expect(result.described).toEqual(Object.keys(result.checks))
  })

  it('PAY-16 PAY-32 is offered after the earlier networks, under all of its names', () => {
    const added = result.networks.slice(NETWORKS.length)
    expect(added).toEqual([
      expect.objectContaining({ name: 'base-mainnet', assets: ['ETH', 'USDC'] }),
      expect.objectContaining({ name: 'eclipse-mainnet', assets: ['GAS', 'USDC'] }),
    ])
    const ofBase = ['ETH on eip155:8453', 'USDC on eip155:8453']
    // Wallets on phones would pay a Solana Pay code on Solana.
    expect(result.quotes).toEqual([ofBase, ofBase, [`GAS on ${ECLIPSE_ID}`, `USDC on ${ECLIPSE_ID}`]])
  })

  it('PAY-46 PAY-47 accepts purchases by a wallet with its own node and by one of a page', () => {
    expect(result.bought).toEqual([
      'USDC on base-mainnet, verified',
      'ETH on base-mainnet, verified',
      'USDC on base-mainnet, verified',
      'USDC on eclipse-mainnet, verified',
      'GAS on eclipse-mainnet, verified',
      'USDC on eclipse-mainnet, verified',
      'USDC on evm-mainnet, verified',
    ])
    expect(result.held).toEqual(
      expect.arrayContaining([
        ['base-mainnet', ['ETH', 'USDC']],
        ['eclipse-mainnet', ['GAS', 'USDC']],
      ]),
    )
  })

  it('ADD-21 SPON-03 accepts signed payments, and sponsored confirmations that do not name it', () => {
    expect(result.signed).toBe('USDC on base-mainnet')
    expect(result.sponsored).toEqual(['ETH on base-mainnet', 'GAS on eclipse-mainnet'])
  })
})

it('PAY-32 no other code names the networks that these tests add', () => {
  expect(NETWORKS.map(({ name }) => name)).not.toContain('base-mainnet')
})
