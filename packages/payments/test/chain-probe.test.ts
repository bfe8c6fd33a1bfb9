import { startEvmChain } from '@svc/devnet/evm-chain/start'
import { startPrimaryChain } from '@svc/devnet/primary-chain/start'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createChainProbe } from '../src/chain-probe.ts'
import { EVM, type Network, PRIMARY } from '../src/networks.ts'

const NOBODY = 'http://127.0.0.1:1'
/** Longer than a node takes on a machine that has other things to do. */
const TIMEOUT_MS = 60_000
let primary: Awaited<ReturnType<typeof startPrimaryChain>>
let evm: Awaited<ReturnType<typeof startEvmChain>>

beforeAll(async () => {
  primary = await startPrimaryChain({ port: 0 })
  evm = await startEvmChain({ port: 0 })
})
afterAll(() => Promise.all([primary.stop(), evm.stop()]))

const probeOf = (network: Network, urls: readonly string[], now = Date.now) =>
  createChainProbe(network, urls, now, TIMEOUT_MS)

describe('whether a chain answers', () => {
  it('VER-20 one node that answers for the right chain is enough', async () => {
    expect(await probeOf(PRIMARY, [NOBODY, primary.url])()).toBe(true)
    expect(await probeOf(EVM, [evm.url])()).toBe(true)
  })

  it('VER-20 nobody, and a node of another chain, do not count', async () => {
    expect(await probeOf(PRIMARY, [NOBODY])()).toBe(false)
    expect(await probeOf(PRIMARY, [evm.url])()).toBe(false)
    expect(await probeOf(EVM, [primary.url])()).toBe(false)
  })

  it('VER-20 asks again after ten seconds, not before', async () => {
    const chain = await startPrimaryChain({ port: 0 })
    let time = 0
    const probe = probeOf(PRIMARY, [chain.url], () => time)
    expect(await probe()).toBe(true)
    await chain.stop()
    time = 9_999
    expect(await probe()).toBe(true)
    time = 10_000
    expect(await probe()).toBe(false)
  })
})
