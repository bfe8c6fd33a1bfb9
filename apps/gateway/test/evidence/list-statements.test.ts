import type { Statements } from '@svc/api/evidence'
import { statementDigest } from '@svc/protocol/evidence'
import { seedReceipt } from '@svc/testbed/seed-lockers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ed25519Identity, expectRefusal } from '../auth/lockers.ts'
import { chainOfThree, type EvidenceHouse, memoAnchor, openEvidenceHouse } from './evidence-house.ts'

const STATEMENTS = '/v1/storage/statements'

let house: EvidenceHouse
const list = (receipt_id: string, query = {}) => house.get<Statements>(STATEMENTS, { receipt_id, ...query })
beforeAll(async () => {
  house = await openEvidenceHouse()
})
afterAll(() => house.close())

it('EVID-10 EVID-11 EVID-20 lists the chain, in which each statement names the one before it', async () => {
  const { receipt_id } = await chainOfThree(house)
  const { proof_id, statements, ...rest } = await list(receipt_id)
  expect(rest).toEqual({ receipt_id })
  expect(proof_id).toMatch(/^[0-9a-f]{32}$/)
  expect(statements.map(({ sequence }) => sequence)).toEqual([1, 2, 3])
  const digests = statements.map(({ statement_digest }) => statement_digest)
  expect(statements.map((of) => of.prev_statement_digest)).toEqual([null, ...digests.slice(0, 2)])
  expect(statements.map(({ file_count, total_bytes }) => [file_count, total_bytes])).toEqual([
    [1, '3'],
    [2, '6'],
    [3, '11'],
  ])
})

it('EVID-10 lists the chain in pages', async () => {
  const { receipt_id } = await chainOfThree(house)
  const first = await list(receipt_id, { limit: 2 })
  expect(first).toMatchObject({ statements: [{ sequence: 1 }, { sequence: 2 }], next_sequence: 3 })
  const last = await list(receipt_id, { limit: 2, from: 3 })
  expect(last).toMatchObject({ statements: [{ sequence: 3 }] })
  expect(last).not.toHaveProperty('next_sequence')
  expect((await list(receipt_id, { limit: 3 })).next_sequence).toBeUndefined()
  expect((await list(receipt_id, { from: 4 })).statements).toEqual([])
})

it('EVID-10 T-65 lists the chain from its end, with the signed statements for those who check them', async () => {
  const { receipt_id } = await chainOfThree(house)
  const sequences = async (query: object) =>
    (await list(receipt_id, query)).statements.map(({ sequence }: { sequence: number }) => sequence)
  expect(await sequences({ before: 4_294_967_295, limit: 2 })).toEqual([2, 3])
  expect(await sequences({ before: 2, limit: 2 })).toEqual([1])
  expect(await sequences({ before: 3, from: 2 })).toEqual([2])
  expect(await sequences({ before: 1 })).toEqual([])
  const { statements } = await list(receipt_id, { envelopes: true })
  for (const { statement_digest, envelope } of statements) {
    expect(statementDigest(envelope!.body)).toBe(statement_digest)
  }
  expect((await list(receipt_id, { envelopes: false })).statements[0]).not.toHaveProperty('envelope')
})

it('ANCH-05 shows the anchor of each statement', async () => {
  const locker = await house.listed(1)
  const { anchor } = await house.state(locker, { anchor: (envelope) => memoAnchor(envelope) })
  await house.state(locker)
  expect((await list(locker.receipt_id)).statements.map((of) => of.anchor)).toEqual([anchor, null])
})

it('VER-15 leaves a record of the oracle era out of the chain, and starts the chain after it', async () => {
  const locker = await house.listed(1)
  await house.stateAsOracle(locker)
  expect(await list(locker.receipt_id)).toEqual({ receipt_id: locker.receipt_id, proof_id: null, statements: [] })
  await house.state(locker)
  expect((await list(locker.receipt_id)).statements).toMatchObject([{ sequence: 1, prev_statement_digest: null }])
})

it('EVID-10 lists nothing before the first statement', async () => {
  const { receipt_id } = await seedReceipt(house.gateway.context, { owner: ed25519Identity().identity })
  expect(await list(receipt_id)).toEqual({ receipt_id, proof_id: null, statements: [] })
})

it('GEN-08 refuses unknown receipts and invalid pages', async () => {
  expectRefusal(await house.read(STATEMENTS, { receipt_id: 'rcpt_none' }), 404, 'receipt_not_found')
  expectRefusal(await house.read(STATEMENTS), 422, 'validation_error')
  const { receipt_id } = await house.listed(0)
  for (const query of [{ limit: 0 }, { limit: 1001 }, { from: 0 }, { from: 'x' }, { before: 0 }, { envelopes: 2 }]) {
    expectRefusal(await house.read(STATEMENTS, { receipt_id, ...query }), 422, 'validation_error')
  }
})
