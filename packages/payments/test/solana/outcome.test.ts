import { address, type Instruction } from '@solana/kit'
import { honestly, startFaultyNode } from '@svc/devnet/faulty-node'
import { GENESIS_HASH, PUBLICATION } from '@svc/devnet/primary-chain/dev-accounts'
import { startTestChain } from '@svc/devnet/primary-chain/dev-client'
import { ed25519Signer } from '@svc/protocol/keys'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSolanaNodes, type Sighting } from '../../src/solana/nodes.ts'
import { outcomeFrom, outcomesOf } from '../../src/solana/outcome.ts'
import { signTransaction } from '../../src/solana/sign-transaction.ts'

const LOCAL_CHAIN = { genesisHash: GENESIS_HASH }
const MEMO: Instruction = {
  programAddress: address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'),
  data: Buffer.from('hello'),
}

const LAST_VALID = 1000
const at = (finalizedHeight: number, status: Sighting['status'] = null): Sighting => ({
  isPast: finalizedHeight > LAST_VALID,
  status,
})
const confirmed = { slot: 7, commitment: 'confirmed', error: null } as const
const finalized = { slot: 7, commitment: 'finalized', error: null } as const
const failed = { slot: 7, commitment: 'confirmed', error: '"AccountInUse"' } as const
const PENDING = { outcome: 'pending' }
const EXPIRED = { outcome: 'expired' }
const FAILED = { outcome: 'failed', error: '"AccountInUse"' }
const CONFIRMED = { outcome: 'landed', slot: 7, commitment: 'confirmed' }
const FINALIZED = { outcome: 'landed', slot: 7, commitment: 'finalized' }

describe('the outcome of a transaction', () => {
  it.each([
    ['no node answers', [], PENDING],
    ['no node shows it, and it may still land', [at(0)], PENDING],
    ['no node shows it, and the last block that may contain it is not final', [at(LAST_VALID)], PENDING],
    ['no node shows it, and it can no longer land', [at(LAST_VALID + 1)], EXPIRED],
    ['both nodes report that it can no longer land', [at(LAST_VALID + 1), at(LAST_VALID + 500)], EXPIRED],
    ['one of two nodes is behind', [at(LAST_VALID + 1), at(LAST_VALID)], PENDING],
    ['a height is invalid', [at(Number.NaN)], PENDING],
    ['it is confirmed', [at(0, confirmed)], CONFIRMED],
    ['it is final', [at(0, finalized)], FINALIZED],
    ['one of two nodes shows it', [at(0), at(0, confirmed)], CONFIRMED],
    ['one node shows it, for the other it has expired', [at(9999), at(0, confirmed)], CONFIRMED],
    ['it is confirmed and its lifetime has ended', [at(9999, confirmed)], CONFIRMED],
    ['it is final on one node and confirmed on the other', [at(0, confirmed), at(0, finalized)], FINALIZED],
    ['it failed', [at(0, failed)], FAILED],
    ['it failed on one node, and the other does not show it', [at(9999), at(0, failed)], FAILED],
    ['it failed on one node and is final on the other', [at(0, failed), at(0, finalized)], FINALIZED],
    ['it failed on one node and is confirmed on the other', [at(0, failed), at(0, confirmed)], CONFIRMED],
  ] as const)('T-19 ANCH-07 is determined when %s', (_name, sightings, outcome) => {
    expect(outcomeFrom(sightings)).toEqual(outcome)
    expect(outcomeFrom(sightings.toReversed())).toEqual(outcome)
  })

  it.each([
    ['one of three shows it', [at(0), at(0), at(0, finalized)], PENDING],
    ['one shows it, for the others it has expired', [at(9999), at(9999), at(0, finalized)], PENDING],
    ['one calls it final', [at(0, confirmed), at(0, finalized)], CONFIRMED],
    ['two call it final', [at(0), at(0, finalized), at(0, finalized)], FINALIZED],
    ['they contradict each other', [at(9999, failed), at(9999, finalized)], PENDING],
    ['one contradicts two', [at(0, failed), at(0, confirmed), at(0, confirmed)], CONFIRMED],
    ['two report that it failed', [at(0, failed), at(0, failed)], FAILED],
    ['only one answers, and reports that it has expired', [at(9999)], PENDING],
    ['for two it has expired', [at(9999), at(9999)], EXPIRED],
  ] as const)('T-45 is what two nodes report when %s', (_name, sightings, outcome) => {
    expect(outcomeFrom(sightings, 2)).toEqual(outcome)
    expect(outcomeFrom(sightings.toReversed(), 2)).toEqual(outcome)
  })
})

it("T-19 T-45 a transaction that landed does not expire when a node has pruned it, or one of the node's machines lags", async () => {
  const { url, chain, startNode, stop } = await startTestChain()
  onTestFinished(stop)
  const nodes = createSolanaNodes(LOCAL_CHAIN, [url])
  async function land() {
    const signed = signTransaction(ed25519Signer(PUBLICATION.privateKeyBytes), [MEMO], await nodes.lifetime())
    await nodes.send(signed.raw)
    chain.settle()
    return signed
  }
  const sent = await land()
  chain.expireBlockhashes()
  const later = await land()
  const landed = { outcome: 'landed', commitment: 'finalized' }
  expect(await outcomesOf(nodes, [sent, later])).toMatchObject([landed, landed])
  const node = await startNode({ keeps: 100 })
  const outcomes = await outcomesOf(createSolanaNodes(LOCAL_CHAIN, [node.url]), [sent, later])
  expect(outcomes).toMatchObject([{ outcome: 'pending' }, landed])
  const machines = await startFaultyNode(node.url, (call) => {
    node.behave({ behind: call.method === 'getSignatureStatuses' ? 300 : 0 })
    return honestly(call)
  })
  expect(await outcomesOf(createSolanaNodes(LOCAL_CHAIN, [machines.url]), [sent])).toEqual([{ outcome: 'pending' }])
  await machines.stop()
})
