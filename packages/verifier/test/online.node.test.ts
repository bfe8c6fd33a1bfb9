import { PUBLICATION } from '@svc/devnet/primary-chain/dev-accounts'
import { call, send, signerOf, startTestChain } from '@svc/devnet/primary-chain/dev-client'
import { anchorMemo, anchorPayload, MEMO_PROGRAMS } from '@svc/protocol/anchor'
import { toBase58, utf8 } from '@svc/protocol/bytes'
import { attestationAddress, REGISTRY_PROGRAM, registryAddresses, registryNonce } from '@svc/protocol/registry'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ONLINE_FACTS } from '../src/facts.ts'
import type { Rpc } from '../src/rpc.ts'
import { bundleOf, listedFiles } from './bundles.ts'
import { verified } from './pack.ts'

const bundle = bundleOf(listedFiles(3))
const { envelope } = bundle

type Instruction = Parameters<typeof send>[2][number]

let chain: Awaited<ReturnType<typeof startTestChain>>
beforeAll(async () => {
  chain = await startTestChain()
  chain.chain.hold()
})
afterAll(() => chain.stop())

const rpc: Rpc = async (method, params) => {
  const { result, error } = await call(chain.url, method, [...params])
  if (error) throw new Error(error.message)
  return result
}

/** Sends the memo to the chain, not yet confirmed. Returns the bundle with the anchor that a gateway would make. */
async function publish(memoProgram: string, memo = anchorMemo(anchorPayload(envelope))) {
  const programAddress = memoProgram as Instruction['programAddress']
  const tx = await send(chain.rpc, await signerOf(PUBLICATION), [{ programAddress, data: memo }])
  chain.clock.time += 400
  const { slot } = chain.chain.transaction(tx)!
  return {
    ...bundle,
    anchor: {
      type: 'chain_memo_v2',
      chain: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
      tx,
      slot,
      block_time: null,
      signer: PUBLICATION.address,
      finalized: false,
      statement_digest: envelope.statement_digest,
      snapshot_id: envelope.body.snapshot_id,
      payload: anchorPayload(envelope),
    },
  }
}

async function onlineValues(anchored: object): Promise<string[]> {
  const given = { rpc, pinnedSigners: [PUBLICATION.address] }
  const { facts } = await verified([utf8(JSON.stringify(anchored))], given)
  return ONLINE_FACTS.map((name) => facts[name].value)
}

const EACH_PASSED = ['passed', 'passed', 'passed', 'passed', 'passed', 'not_checked']

describe('a node of the primary chain', () => {
  it.each(MEMO_PROGRAMS)(
    'CLI-03 ANCH-01 proves an anchor by %s as pending, confirmed and final',
    async (memoProgram) => {
      const anchored = await publish(memoProgram)
      expect((await onlineValues(anchored))[0]).toBe('failed')
      chain.clock.time += 400
      expect(await onlineValues(anchored)).toEqual(EACH_PASSED.with(4, 'not_checked'))
      chain.clock.time += 12_400
      expect(await onlineValues(anchored)).toEqual(EACH_PASSED)
    },
  )

  it('CLI-03 proves an anchor by a client that reads numbers as bigints', async () => {
    const anchored = await publish(MEMO_PROGRAMS[1]!)
    chain.clock.time += 12_800
    const withBigints: Rpc = async (...asked) => {
      const result = (await rpc(...asked)) as { meta?: object } | string
      return typeof result === 'object' && result?.meta
        ? { ...result, meta: { ...result.meta, rent: 2n ** 64n } }
        : result
    }
    const { facts } = await verified([utf8(JSON.stringify(anchored))], { rpc: withBigints, pinnedSigners: [] })
    expect(ONLINE_FACTS.map((name) => facts[name].value)).toEqual(EACH_PASSED)
  })

  it('CLI-03 reveals that a transaction has another payload', async () => {
    const anchored = await publish(MEMO_PROGRAMS[1]!, utf8('something else'))
    chain.clock.time += 12_800
    expect(await onlineValues(anchored)).toEqual(EACH_PASSED.with(2, 'failed'))
  })

  it('SAS-09 reveals that no registry record was written', async () => {
    const { anchor, ...rest } = await publish(MEMO_PROGRAMS[1]!)
    chain.clock.time += 12_800
    const values = await onlineValues({ ...rest, anchor: { ...anchor, type: 'chain_sas_v1', sas: place() } })
    expect(values).toEqual(EACH_PASSED.with(5, 'failed'))
  })
})

function place() {
  const nonce = registryNonce(envelope.body.proof_id)
  const addresses = registryAddresses(PUBLICATION.address)
  const { credential, schema } = addresses
  return {
    program: REGISTRY_PROGRAM,
    credential,
    schema,
    nonce: toBase58(nonce),
    attestation: attestationAddress(addresses, nonce),
    mode: 'latest',
  }
}
