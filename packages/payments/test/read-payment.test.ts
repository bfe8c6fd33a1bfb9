import { describe, expect, it } from 'vitest'
import { createNodePool, NodeProblem } from '../src/nodes/node-pool.ts'
import type { ChainReading } from '../src/payment.ts'
import { readPayment } from '../src/read-payment.ts'

const FOUND: ChainReading = {
  outcome: 'found',
  tx: 'tx',
  payer: 'payer',
  received: 1n,
  height: 1,
  blockTime: null,
  references: [],
  authorizations: [],
}
const NOT_FOUND: ChainReading = { outcome: 'not_found' }
const FAILED: ChainReading = { outcome: 'rejected', reason: 'transaction_failed' }

/** One node for each reading; a node without a reading fails. */
function read(...readings: (ChainReading | null)[]): Promise<ChainReading> {
  const nodes = readings.map((client) => ({
    url: 'https://a.example/key',
    client,
    requireChain: async () => {},
    describe: () => 'broken',
  }))
  return readPayment(createNodePool('test chain', nodes, { timeoutMs: 60_000 }), async (reading) => {
    if (!reading) throw new NodeProblem('makes no sense')
    return reading
  })
}

describe('reading a payment from several nodes', () => {
  it('takes the transaction from the node that has it', async () => {
    expect(await read(null, NOT_FOUND, FOUND)).toEqual(FOUND)
    expect(await read(NOT_FOUND, FAILED)).toEqual(FAILED)
  })

  it('PAY-49 reports not found only when every node does', async () => {
    expect(await read(NOT_FOUND, NOT_FOUND)).toEqual(NOT_FOUND)
    expect(await read(NOT_FOUND, null)).toEqual({ outcome: 'unavailable', problem: 'a.example: makes no sense' })
  })

  it('is unavailable without nodes', async () => {
    expect(await read()).toEqual({ outcome: 'unavailable', problem: 'no node is configured' })
  })
})
