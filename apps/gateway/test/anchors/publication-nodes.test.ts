import { isBlockhash } from '@solana/kit'
import { type Behaviour, type FaultyNode, honestly, spoil, startFaultyNode, withResult } from '@svc/devnet/faulty-node'
import { PUBLICATION } from '@svc/devnet/primary-chain/dev-accounts'
import { call } from '@svc/devnet/primary-chain/dev-client'
import { ed25519Signer } from '@svc/protocol/keys'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { fateOf } from '../../src/anchors/fate.ts'
import { memoInstruction } from '../../src/anchors/instructions.ts'
import { ChainUnavailable, createPublicationNodes, type PublicationNodes } from '../../src/anchors/publication-nodes.ts'
import { type SignedTransaction, signTransaction } from '../../src/anchors/sign-transaction.ts'
import { attest } from '../attestations/attest.ts'
import type { LockerHouse } from '../auth/lockers.ts'
import { expectAnchors, filledLocker, type Harbour, openHarbour, transactionsOf } from './anchors.ts'
import { blindly, DOWN, refusingly } from './trouble.ts'

const MEMO_V3 = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'

let harbour: Harbour
let nodes: PublicationNodes
let signed: SignedTransaction
beforeAll(async () => {
  harbour = await openHarbour()
  nodes = createPublicationNodes([harbour.node.url])
  const memo = memoInstruction(Buffer.from('hello'), MEMO_V3, PUBLICATION.address)
  signed = signTransaction(ed25519Signer(PUBLICATION.privateKeyBytes), [memo], await nodes.lifetime())
  await nodes.send(signed.raw)
})
afterAll(() => harbour.stop())
afterEach(() => harbour.node.behave(honestly))

/** Every way to spoil what a method answers. */
async function* spoilt(method: string, params: unknown[]) {
  const { result } = await call(harbour.chainUrl, method, params)
  for (const wrong of [undefined, null, 'x', -1.5, {}, [], ...spoil(result)]) {
    harbour.node.behave(withResult(method, () => wrong))
    yield JSON.stringify(wrong)
  }
}

const noSay = (answer: string) => (error: unknown) => {
  expect(error, answer).toBeInstanceOf(ChainUnavailable)
  return null
}

describe('a node that answers nonsense', () => {
  it('T-19 about the newest block has no say', async () => {
    for await (const answer of spoilt('getLatestBlockhash', [{ commitment: 'confirmed' }])) {
      const lifetime = await nodes.lifetime().catch(noSay(answer))
      if (!lifetime) continue
      expect(isBlockhash(lifetime.blockhash), answer).toBe(true)
      expect(lifetime.lastValidBlockHeight, answer).toEqual(expect.any(BigInt))
    }
  })

  it('T-19 about what would happen refuses, or has no say', async () => {
    for await (const answer of spoilt('simulateTransaction', [signed.raw, { encoding: 'base64' }])) {
      const isUnopposed = await nodes.objection(signed.raw).then((objection) => objection === null, noSay(answer))
      expect(isUnopposed ?? false, answer).toBe(answer?.includes('"err":null') ?? false)
    }
  })

  it('T-19 about where a transaction is never has it expire, nor puts it anywhere else', async () => {
    const seen = async (answer: string) => {
      const [sightings] = await nodes.sightings([signed.tx])
      const fate = fateOf(sightings!, 0)
      expect(['landed', 'failed', 'unknown'], answer).toContain(fate.is)
      if (fate.is === 'landed') expect(Number.isSafeInteger(fate.slot), answer).toBe(true)
      if (fate.is === 'failed') expect(fate.error, answer).toEqual(expect.any(String))
    }
    const config = { searchTransactionHistory: true }
    for await (const answer of spoilt('getSignatureStatuses', [[signed.tx], config])) {
      // That it has none at all is an answer.
      if (!answer?.includes('"value":[null]')) await seen(answer)
    }
    for await (const answer of spoilt('getBlockHeight', [])) await seen(answer)
  })

  it('ANCH-04 about what it cost has no say', async () => {
    const params = [signed.tx, { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: 0 }]
    const honest = await nodes.costs(signed.tx)
    for await (const answer of spoilt('getTransaction', params)) {
      const costs = await nodes.costs(signed.tx).catch(noSay(answer))
      if (!costs) continue
      expect(costs.blockTime === null || Number.isSafeInteger(costs.blockTime), answer).toBe(true)
      expect({ ...costs, blockTime: honest.blockTime }, answer).toEqual(honest)
    }
  })
})

describe('one of two nodes', () => {
  let bad: FaultyNode
  let house: LockerHouse
  const open = (url: string) => harbour.open({ PRIMARY_RPC_URLS: `${url},${harbour.node.url}` })
  beforeAll(async () => {
    bad = await startFaultyNode(harbour.chainUrl)
    house = await open(bad.url)
  })
  afterAll(() => bad.stop())

  async function expectPublished(by: LockerHouse): Promise<void> {
    const locker = await filledLocker(by)
    const sent = await transactionsOf(harbour.chain, async () => {
      expect((await attest(by, locker)).push_result).toMatchObject({ status: 'pushed', error: null })
    })
    expect(sent).toBe(1)
    await expectAnchors(by, harbour.chain, locker, [true])
  }

  it.each<[string, Behaviour]>([
    ['is down', DOWN],
    ['hangs', () => null],
    ['hangs when it is sent something', (call) => (call.method === 'sendTransaction' ? null : honestly(call))],
    ['answers with a page', () => ({ body: '<html>', headers: { 'content-type': 'text/html' } })],
    ['answers with nothing', () => ({ body: '' })],
    ['would refuse it', refusingly],
    ['has not seen it', blindly],
    ['has not indexed it', withResult('getTransaction', () => null)],
  ])('T-19 %s: the other one is enough, and nothing is sent twice', async (_name, behaviour) => {
    bad.behave(behaviour)
    await expectPublished(house)
  })

  it('T-19 is of another chain: the other one is enough, and it gets nothing to see', async () => {
    bad.behave(withResult('getGenesisHash', () => 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'))
    const asked = bad.calls.length
    await expectPublished(await open(bad.url))
    expect(new Set(bad.calls.slice(asked))).toEqual(new Set(['getGenesisHash']))
  })

  it('T-19 is not there: the other one is enough', async () => {
    const gone = await startFaultyNode(harbour.chainUrl)
    await gone.stop()
    await expectPublished(await open(gone.url))
  })
})
