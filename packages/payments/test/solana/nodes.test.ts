import { address, type Instruction, isBlockhash } from '@solana/kit'
import { type FaultyNode, honestly, spoil, startFaultyNode, withResult } from '@svc/devnet/faulty-node'
import { GENESIS_HASH, PUBLICATION } from '@svc/devnet/primary-chain/dev-accounts'
import { call } from '@svc/devnet/primary-chain/dev-client'
import { startPrimaryChain } from '@svc/devnet/primary-chain/start'
import { ed25519Signer } from '@svc/protocol/keys'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ChainUnavailable } from '../../src/nodes/node-pool.ts'
import { createSolanaNodes, type SolanaNodes } from '../../src/solana/nodes.ts'
import { outcomesOf, watchTransaction } from '../../src/solana/outcome.ts'
import { type SignedTransaction, signTransaction } from '../../src/solana/sign-transaction.ts'

const LOCAL_CHAIN = { genesisHash: GENESIS_HASH }
const MEMO: Instruction = {
  programAddress: address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'),
  data: Buffer.from('hello'),
}

let chainUrl: string
let node: FaultyNode
let nodes: SolanaNodes
let signed: SignedTransaction
let stop: () => Promise<void>
beforeAll(async () => {
  const chain = await startPrimaryChain({ port: 0 })
  chainUrl = chain.url
  node = await startFaultyNode(chainUrl)
  stop = async () => {
    await node.stop()
    await chain.stop()
  }
  nodes = createSolanaNodes(LOCAL_CHAIN, [node.url])
  signed = signTransaction(ed25519Signer(PUBLICATION.privateKeyBytes), [MEMO], await nodes.lifetime())
  await nodes.send(signed.raw)
  chain.chain.settle()
})
afterAll(() => stop())
afterEach(() => node.behave(honestly))

/** Every corruption of a method's answer. */
async function* corrupted(method: string, params: unknown[]) {
  const { result } = await call(chainUrl, method, params)
  for (const wrong of [undefined, null, 'x', -1.5, {}, [], ...spoil(result)]) {
    node.behave(withResult(method, () => wrong))
    yield JSON.stringify(wrong)
  }
}

const ignored = (answer: string) => (error: unknown) => {
  expect(error, answer).toBeInstanceOf(ChainUnavailable)
  return null
}

describe('a node with invalid answers', () => {
  it('T-19 is ignored for the newest block', { tags: ['nightly'] }, async () => {
    for await (const answer of corrupted('getLatestBlockhash', [{ commitment: 'confirmed' }])) {
      const lifetime = await nodes.lifetime().catch(ignored(answer))
      if (!lifetime) continue
      expect(isBlockhash(lifetime.blockhash), answer).toBe(true)
      expect(lifetime.lastValidBlockHeight, answer).toEqual(expect.any(BigInt))
    }
  })

  it('T-19 never passes a simulation by mistake', { tags: ['nightly'] }, async () => {
    for await (const answer of corrupted('simulateTransaction', [signed.raw, { encoding: 'base64' }])) {
      const isUnopposed = await nodes
        .simulate(signed.raw, { sigVerify: true })
        .then((error) => error === null, ignored(answer))
      expect(isUnopposed ?? false, answer).toBe(answer?.includes('"err":null') ?? false)
    }
  })

  it('T-19 never makes a transaction expire, nor puts it in another slot', { tags: ['nightly'] }, async () => {
    const seen = async (answer: string) => {
      const [found] = await outcomesOf(nodes, [{ tx: signed.tx, last_valid_height: 0 }])
      if (!found) throw new Error('no outcome')
      expect(['landed', 'failed', 'pending'], answer).toContain(found.outcome)
      if (found.outcome === 'landed') expect(Number.isSafeInteger(found.slot), answer).toBe(true)
      if (found.outcome === 'failed') expect(found.error, answer).toEqual(expect.any(String))
    }
    const config = { searchTransactionHistory: true }
    for await (const answer of corrupted('getSignatureStatuses', [[signed.tx], config])) {
      // The absence of a status is a valid answer.
      if (!answer?.includes('"value":[null]')) await seen(answer)
    }
    for await (const answer of corrupted('getEpochInfo', [{ commitment: 'finalized' }])) await seen(answer)
  })

  it('T-129 is ignored for accounts, their balances and their history', { tags: ['nightly'] }, async () => {
    const { address } = PUBLICATION
    for await (const answer of corrupted('getSignaturesForAddress', [address, { commitment: 'confirmed', limit: 5 }])) {
      const history = await nodes.history(address, { limit: 5 }).catch(ignored(answer))
      for (const { tx, memo } of history ?? [])
        expect([typeof tx, memo === null ? 'string' : typeof memo], answer).toEqual(['string', 'string'])
    }
    for await (const answer of corrupted('getAccountInfo', [
      address,
      { commitment: 'confirmed', encoding: 'base64' },
    ])) {
      const account = await nodes.account(address).catch(ignored(answer))
      if (account) expect(account, answer).toEqual({ owner: expect.any(String), data: expect.any(Uint8Array) })
    }
    for await (const answer of corrupted('getBalance', [address, { commitment: 'confirmed' }])) {
      const balance = await nodes.balance(address).catch(ignored(answer))
      if (balance !== null) expect(balance, answer).toEqual(expect.any(BigInt))
    }
    for (const wrong of [undefined, 'x', {}, { transaction: [7, 'base64'] }]) {
      node.behave(withResult('getTransaction', () => wrong))
      expect(await nodes.wire(signed.tx).catch(ignored('a transaction'))).toBeNull()
    }
  })

  it('ANCH-04 is ignored for the costs of a transaction', { tags: ['nightly'] }, async () => {
    const params = [signed.tx, { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: 0 }]
    const honest = await nodes.costs(signed.tx)
    for await (const answer of corrupted('getTransaction', params)) {
      const costs = await nodes.costs(signed.tx).catch(ignored(answer))
      if (!costs) continue
      expect(costs.blockTime === null || Number.isSafeInteger(costs.blockTime), answer).toBe(true)
      expect({ ...costs, blockTime: honest.blockTime }, answer).toEqual(honest)
    }
  })
})

describe('a transaction', () => {
  it('T-19 is landed once the chain shows it', async () => {
    expect(await watchTransaction(nodes, signed, 0)).toMatchObject({ outcome: 'landed', commitment: 'finalized' })
  })

  it('T-19 is pending while no node shows it, and is sent again meanwhile', { tags: ['nightly'] }, async () => {
    const later = signTransaction(ed25519Signer(PUBLICATION.privateKeyBytes), [MEMO, MEMO], await nodes.lifetime())
    expect(await watchTransaction(nodes, later, 0)).toEqual({ outcome: 'pending' })
    expect(await watchTransaction(nodes, later, 60_000)).toMatchObject({ outcome: 'landed' })
  })
})

describe('a node of another chain', () => {
  it('T-19 is queried for its chain only, and receives no transaction', async () => {
    node.behave(withResult('getGenesisHash', () => 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'))
    const asked = node.calls.length
    const others = createSolanaNodes(LOCAL_CHAIN, [node.url])
    await others.send(signed.raw)
    await expect(others.lifetime()).rejects.toBeInstanceOf(ChainUnavailable)
    await expect(others.height()).rejects.toBeInstanceOf(ChainUnavailable)
    expect(await others.sightings([signed])).toEqual([[]])
    expect(new Set(node.calls.slice(asked))).toEqual(new Set(['getGenesisHash']))
  })
})

it('T-19 no query waits forever for a node that hangs', async () => {
  const hanging = await startFaultyNode('', () => null)
  onTestFinished(hanging.stop)
  const hung = createSolanaNodes(LOCAL_CHAIN, [hanging.url], { timeoutMs: 100 })
  const simulated = hung.simulate('AA==', { sigVerify: true })
  const asked = [hung.lifetime(), simulated, hung.costs('tx'), hung.balance('key')]
  const [sent, seen, ...answers] = await Promise.all([
    hung.send('AA=='),
    hung.sightings([{ tx: 'tx' }]),
    ...asked.map((answer) => answer.catch((error: unknown) => error)),
  ])
  expect([sent, seen]).toEqual([undefined, [[]]])
  for (const answer of answers) expect(answer).toBeInstanceOf(ChainUnavailable)
})
