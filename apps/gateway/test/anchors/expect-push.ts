// Checks the result of a push: its answer, and the facts that anybody can read.

import type { AnchorError } from '@svc/api/attestations'
import type { VerifyAnswer } from '@svc/api/evidence'
import { expect } from 'vitest'
import { expectRefusal, type LockerHouse, type TestLocker } from '../auth/lockers.ts'
import { askToPush, push } from './anchor-testbed.ts'

async function factsOf(house: LockerHouse, { receiptId }: TestLocker) {
  const { body } = await house.send<VerifyAnswer>('GET', `/v1/storage/verify?receipt_id=${receiptId}`)
  return { error: body.attestation?.last_anchor_error, facts: body.verification, anchor: body.anchor }
}

/** Expects that a push fails and that the error is on record; answers the error. */
export async function expectFailure(house: LockerHouse, locker: TestLocker, wanted: object): Promise<AnchorError> {
  const reply = await askToPush<{ details: AnchorError; hint: string }>(house, locker)
  expectRefusal(reply, 502, 'anchor_failed')
  expect(reply.body.details).toMatchObject(wanted)
  expect(reply.body.hint).toMatch(/repeat the push|has to look/)
  const { error, facts, anchor } = await factsOf(house, locker)
  expect(error).toEqual(reply.body.details)
  expect(facts).toMatchObject({ anchor_submitted: 'not_checked', anchor_confirmed: 'failed' })
  expect(anchor).toBeNull()
  return reply.body.details
}

/** Expects that a push succeeds and that no error is left on record. */
export async function expectSuccess(house: LockerHouse, locker: TestLocker) {
  expect(await push(house, locker)).toMatchObject({ status: 'pushed', attestation_status: 'complete' })
  const { error, facts } = await factsOf(house, locker)
  expect(error).toBeUndefined()
  expect(facts).toMatchObject({ anchor_submitted: 'passed', anchor_confirmed: 'passed' })
}
