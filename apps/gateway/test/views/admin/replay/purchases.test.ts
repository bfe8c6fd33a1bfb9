import { forAllTests } from '@svc/devnet/for-tests'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { buy, openMarket } from '@svc/devnet/services/market'
import { ed25519Identity } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { paymentAttCode } from '@svc/protocol/ids'
import { beforeAll, expect, it } from 'vitest'
import type { Entry } from '../../../../src/continuity/documents.ts'
import { copyJournal, entriesIn, replayFrom, withoutTicks, writeJournal } from './journal-lines.ts'

beforeAll(withoutTicks)
const market = forAllTests(() => openMarket())
const DAY_MS = 86_400_000

it('ADD-17 ADD-29 replayed renewals restore the end of a locker, whichever process recorded them', {
  tags: ['nightly'],
}, async () => {
  const shop = await market.open({ RUN_JOBS: 'false', PUBLISH: 'on_request' })
  const db = writable(shop.gateway.context.database.db)
  const payer = ed25519Identity(DEMO_PAYERS[0]!.privateKeyBytes)
  const first = await buy(market, shop, { units: 1 })
  const { lockerId } = await shop.locker(payer, { receiptId: first.receipt_id })
  const lockerRow = () =>
    db.selectFrom('lockers').select(['terms', 'expires_at']).where('locker_id', '=', lockerId).executeTakeFirstOrThrow()
  const backup = await lockerRow()
  // The first renewal is bought after the locker has expired and starts a new term, so the order of the two counts.
  market.clock.advance(Math.max(0, (Date.parse(backup.expires_at) + DAY_MS - market.clock.now()) / 1000))
  const renewals = [await buy(market, shop, { units: 1, extends: first.receipt_id })]
  market.clock.advance(3600)
  renewals.push(await buy(market, shop, { units: 3, extends: first.receipt_id }))
  const after = await lockerRow()

  const journal = await copyJournal(shop)
  const entries = await entriesIn(journal)
  const isRenewal = ({ document }: Entry) => document.kind === 'receipt' && document.renewal !== null
  const renewalEntries = entries.filter(isRenewal)
  expect(renewalEntries).toHaveLength(2)
  const reordered = await writeJournal(journal, [
    [renewalEntries[1]!],
    [renewalEntries[0]!],
    entries.filter((each) => !isRenewal(each)),
  ])
  const ids = renewals.map(({ receipt_id }) => receipt_id as string)
  const deleteRenewals = async () => {
    for (const table of ['renewals', 'receipts', 'payment_codes', 'uncounted_receipts'] as const)
      await db.deleteFrom(table).where('receipt_id', 'in', ids).execute()
    await db.updateTable('lockers').set(backup).where('locker_id', '=', lockerId).execute()
  }
  await deleteRenewals()
  const jobs = await shop.gateway.context.queue.counts()
  expect(await replayFrom(reordered, shop)).toMatchObject({ problems: [], replayed: { receipt: 2 } })
  expect(await lockerRow()).toEqual(after)
  expect((await replayFrom(reordered, shop)).replayed).toEqual({})
  expect(await lockerRow()).toEqual(after)

  // The code of each payment is restored, and its memo is not sent again.
  const codes = await db.selectFrom('payment_codes').select('att_code').where('receipt_id', 'in', ids).execute()
  expect(codes.map(({ att_code }) => att_code).sort()).toEqual(
    renewals.map(({ receipt }) => paymentAttCode(receipt as never)).sort(),
  )
  expect(await shop.gateway.context.queue.counts()).toEqual(jobs)
})
