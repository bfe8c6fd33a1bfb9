// Lockers in every condition: requests that succeed with an open locker must have a declared outcome here.

import type { Confirmation } from '@svc/api/purchases'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { ed25519Identity } from '@svc/devnet/services/signing'
import type { Given } from '../draft.ts'
import type { Prepared } from '../prepare.ts'
import { bearer } from './credentials.ts'
import { ADMIN_SECRET, type GatewayFixture, lockerOf, type OwnedLocker } from './fixture.ts'

/** Brings the locker of a request into a condition, and returns the locker that the request is then about. */
export type Condition = (fixture: GatewayFixture, locker: OwnedLocker) => Promise<OwnedLocker>

const OPERATOR = bearer(() => ADMIN_SECRET)

function restricted(restriction: string): Condition {
  return async ({ ask }, locker) => {
    const path = { locker_id: locker.lockerId }
    await ask('restrictLocker', { path, body: { restriction, reason: 'a trial' }, credential: OPERATOR })
    return locker
  }
}

function changedBy(operation: string, given: Given = {}): Condition {
  return async ({ ask }, locker) => {
    await ask(operation, { path: { locker_id: locker.lockerId }, credential: locker.credential, ...given })
    return locker
  }
}

/** A receipt that extends the locker, and opens none. */
const renewal: Condition = async ({ ask, now, paidQuote }, { receiptId }) => {
  const { payReqId: pay_req_id, tx: tx_sig } = await paidQuote({ extends: receiptId })
  const { receipt_id } = await ask<Confirmation>('confirmStorage', { body: { pay_req_id, tx_sig } })
  return lockerOf(ed25519Identity(DEMO_PAYERS[0]?.privateKeyBytes), receipt_id, now)
}

export const CONDITIONS: Readonly<Record<string, Condition>> = {
  frozen: restricted('frozen'),
  'taken down': restricted('taken_down'),
  'with all access revoked': changedBy('revokeAccess'),
  'with a closed link': changedBy('changePublicLink', { body: { action: 'close' } }),
  'without a statement': async (_world, locker) => locker,
  'that was never bought': async ({ now }, { owner }) => lockerOf(owner, `rcpt_${'0'.repeat(32)}`, now),
  'of a renewal': renewal,
}

export function isAboutMain({ main }: GatewayFixture, { path, query, body, credential }: Prepared): boolean {
  const inputs = JSON.stringify([path, query, body])
  return credential === main.credential || inputs.includes(main.receiptId) || inputs.includes(main.lockerId)
}

/** The same request for `other`, if it was about the main locker or about `own`. */
export function aboutAnother(
  { main }: GatewayFixture,
  other: OwnedLocker,
  own: OwnedLocker,
  given: Prepared,
): Prepared {
  const { path, query, body, credential } = given
  const replaced = <Part>(part: Part): Part => {
    if (part === undefined || part instanceof Uint8Array) return part
    const text = [main, own].reduce(
      (before, { receiptId, lockerId }) =>
        before.replaceAll(receiptId, other.receiptId).replaceAll(lockerId, other.lockerId),
      JSON.stringify(part),
    )
    return JSON.parse(text) as Part
  }
  const isTheirs = credential === main.credential || credential === own.credential
  return {
    ...given,
    path: replaced(path) ?? {},
    query: replaced(query) ?? {},
    body: replaced(body),
    credential: isTheirs ? other.credential : credential,
  }
}
