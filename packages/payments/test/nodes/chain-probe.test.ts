import { EVM } from '@svc/api/networks'
import { startEvmChain } from '@svc/devnet/evm-chain/start'
import { GENESIS_HASH } from '@svc/devnet/primary-chain/dev-accounts'
import { startPrimaryChain } from '@svc/devnet/primary-chain/start'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectEvm } from '../../src/evm/nodes.ts'
import { createChainProbe } from '../../src/nodes/node-pool.ts'
import { connectSolana } from '../../src/solana/nodes.ts'

const NOBODY = 'http://127.0.0.1:1'
/** Longer than a node needs on a busy machine. */
const TIMEOUT_MS = 60_000
let primary: Awaited<ReturnType<typeof startPrimaryChain>>
let evm: Awaited<ReturnType<typeof startEvmChain>>

beforeAll(async () => {
  primary = await startPrimaryChain({ port: 0 })
  evm = await startEvmChain({ port: 0 })
})
afterAll(() => Promise.all([primary.stop(), evm.stop()]))

const probePrimary = (urls: readonly string[], now = Date.now) =>
  createChainProbe(connectSolana({ genesisHash: GENESIS_HASH }, urls, { timeoutMs: TIMEOUT_MS }), now)
const probeEvm = (urls: readonly string[]) =>
  createChainProbe(connectEvm(EVM, urls, { timeoutMs: TIMEOUT_MS }), Date.now)

describe('the chain probe', () => {
  it('VER-20 is true with one node that answers for the right chain', async () => {
    expect(await probePrimary([NOBODY, primary.url])()).toBe(true)
    expect(await probeEvm([evm.url])()).toBe(true)
  })

  it('VER-20 is false without a node, or with a node of another chain only', async () => {
    expect(await probePrimary([NOBODY])()).toBe(false)
    expect(await probePrimary([evm.url])()).toBe(false)
    expect(await probeEvm([primary.url])()).toBe(false)
  })

  it('VER-20 queries again after ten seconds, not before', async () => {
    const chain = await startPrimaryChain({ port: 0 })
    let time = 0
    const probe = probePrimary([chain.url], () => time)
    expect(await probe()).toBe(true)
    await chain.stop()
    time = 9_999
    expect(await probe()).toBe(true)
    time = 10_000
    expect(await probe()).toBe(false)
  })
})
