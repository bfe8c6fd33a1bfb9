// @module-tag nightly

import { readFileSync } from 'node:fs'
import type { LogState } from '@svc/api/log'
import { seedStatement } from '@svc/devnet/services/seed-statements'
import { writable } from '@svc/devnet/writable'
import { fromBase64, toHex } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { readSigned, signCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { formatKey, type NoteKey } from '@svc/protocol/transparency/note'
import { prefixRoots } from '@svc/protocol/transparency/tree'
import type { Page } from 'playwright'
import { beforeEach, describe, expect, it } from 'vitest'
import { alarm, entryCard, lookUp, otherLog, publish, showLog } from './log-page.ts'
import { LOG_KEY, useSite } from './site.ts'
import { click, expectAccessible, expectNoErrors, visit } from './visit.ts'

const SAME = 'This log is unchanged since your last visit'

describe('a log that grows', { shuffle: false }, () => {
  const site = useSite({ withLog: true })
  const state = async () => (await (await fetch(`${site.url}/v1/log`)).json()) as LogState

  async function addStatements(count: number): Promise<void> {
    const { context } = site.gateway
    const { locker_id } = site.locker
    const lockers = context.database.db.selectFrom('lockers').selectAll()
    const locker = await lockers.where('locker_id', '=', locker_id).executeTakeFirstOrThrow()
    for (let i = 0; i < count; i++) await seedStatement(context, locker)
  }

  it('LOG-40 is shown as empty, as new, and an hour later as grown and anchored', async () => {
    const { page } = await visit(site, '/log', { permissions: ['clipboard-read', 'clipboard-write'] })
    await page.getByRole('heading', { name: 'The log is empty' }).waitFor()
    await expectAccessible(page, 'log-empty')
    await publish(site)
    await click(page, 'Read again')
    await page.getByText('first visit to this log, which has 1 entry.').waitFor()

    const { database, queue } = site.gateway.context
    const anHourAgo = writable(database.db).updateTable('log_checkpoints')
    await anHourAgo.set(({ eb }) => ({ signed_at: eb('signed_at', '-', 7200) })).execute()
    await writable(database.db)
      .transaction()
      .execute((tx) => queue.enqueue(tx, 'anchor-log', {}))
    await queue.drain()
    await addStatements(22)
    const none = { record: '{}', anchor: null, issued_at: 0, sequence: 1 }
    const lost = { receipt_id: 'rcpt_lost', locker_id: 'lost', snapshot_key: 'lost', statement_digest: '5'.repeat(64) }
    await writable(database.db)
      .insertInto('statements')
      .values({ ...none, ...lost })
      .execute()
    await publish(site)
    await page.reload()
    await page.getByText(/^This log has only grown since your last visit \(1 entry on .* UTC\)\.$/).waitFor()
    await page.getByText('23 entries more').waitFor()
    await page.getByText('The first entry is published on chain.').waitFor()
    await page.getByText('The published root matches these entries.').waitFor()
    await page.getByText(/^slot [\d,]+/).waitFor()
    await click(page, 'Copy Key of the log')
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe((await state()).vkey)
    expectNoErrors(page, 404)
  })

  it('LOG-41 LOG-42 lists its entries in pages, and names the reason why an entry is not found', async () => {
    const { page } = await visit(site, '/log')
    const rows = page.getByRole('region', { name: 'Entries of the log' }).getByRole('row')
    await rows.nth(20).waitFor()
    expect(await rows.nth(1).textContent()).toMatch(/^23proven555555555555…lost/)
    expect(await rows.nth(2).textContent()).toMatch(/^22proven.*not yet$/)
    expect(await page.getByRole('cell', { name: 'not proven' }).count()).toBe(0)
    await click(page, 'Older')
    await page.getByText('19 to 0 of 24').waitFor()
    await page.getByRole('link', { name: 'Entry 0', exact: true }).click()
    await entryCard(page, 'Entry 0').getByText('Proven here').waitFor()
    expect(page.url()).toBe(`${site.url}/log#0`)
    expect(await page.evaluate(() => document.activeElement?.className)).toBe('log-entry')
    await page.getByText('The signed statement').click()
    await page.getByText('"merkle_algorithm"').waitFor()
    await expectAccessible(page, 'log')
    for (const [text, answer] of [
      ['23', 'The gateway no longer has this statement.'],
      ['24', 'This entry does not exist: the log has 24 entries, and the last one is 23.'],
      ['-1', 'This is neither the number of an entry nor a digest'],
    ] as const) {
      await lookUp(page, text)
      await page.getByText(answer).waitFor()
    }
    // This statement was made after the page was loaded.
    await addStatements(1)
    await publish(site)
    await lookUp(page, '24')
    await entryCard(page, 'Entry 24').getByText('Proven here').waitFor()
    await click(page, 'Close the entry')
    await entryCard(page, 'Entry 24').waitFor({ state: 'detached' })
  })
})

describe('a log that was seen before', () => {
  const site = useSite({ withLog: true })
  let page: Page
  beforeEach(async () => {
    await publish(site)
    page = (await visit(site, '/log')).page
    await page.getByText('first visit to this log').waitFor()
  })

  it('LOG-43 raises a lasting alarm if its history was rewritten, with both checkpoints to save', async () => {
    await showLog(page, await otherLog(4))
    await page.reload()
    await alarm(page, 'This log has rewritten its history')
    await expectAccessible(page, 'log-alarm')
    const saving = page.waitForEvent('download')
    await click(page, 'Save both checkpoints')
    const saved = JSON.parse(readFileSync(await (await saving).path(), 'utf8')) as { kind: string; evidence: string[] }
    const [earlier, later] = saved.evidence.map((text) => readSigned(text, [LOG_KEY]))
    if (typeof earlier !== 'object' || typeof later !== 'object') throw new Error('the evidence is not signed')
    const path = saved.evidence[2]!.trimEnd().split('\n')
    const roots = prefixRoots(
      earlier.size,
      later.size,
      path.map((line) => fromBase64(line)!),
    )!
    expect([saved.kind, toHex(roots.later)]).toEqual(['fork', toHex(later.root)])
    expect(toHex(roots.earlier)).not.toBe(toHex(earlier.root))
    await page.reload()
    await alarm(page, 'This log has rewritten its history')
  })

  it('LOG-43 raises an alarm if entries were removed', async () => {
    await showLog(page, await otherLog(0))
    await page.reload()
    await alarm(page, 'Entries were removed from this log')
    expect(await page.getByRole('button', { name: 'Save both checkpoints' }).count()).toBe(1)
  })

  it('LOG-41 LOG-43 is not shown as good if tiles, signatures, entries or the gateway are missing', async () => {
    const checkpoint = (await otherLog(4)).get('checkpoint')!
    await showLog(page, new Map([['checkpoint', checkpoint]]))
    await page.reload()
    await page.getByText('This page could not check that the log has only grown').waitFor()
    await showLog(page, new Map([['checkpoint', Buffer.from(String(checkpoint).replace('\n4\n', '\n5\n'))]]))
    await page.reload()
    await page.getByRole('heading', { name: 'The log has not signed this' }).waitFor()
    await showLog(page, null)
    await page.route(/\/v1\/log$/, (route) => route.fulfill({ status: 503, json: { error: 'STORAGE_UNAVAILABLE' } }))
    await page.reload()
    await page.getByRole('heading', { name: 'The log cannot be read right now' }).waitFor()
    await showLog(page, null)
    await click(page, 'Try again')
    await page.getByText(SAME).waitFor()
    await page.route(/\/v1\/log\/statements/, async (route) => {
      const text = await (await route.fetch()).text()
      await route.fulfill({ body: text.replaceAll(site.digest, '4'.repeat(64)) })
    })
    await lookUp(page, '0')
    await entryCard(page, 'Entry 0').getByText('Do not rely on it.').first().waitFor()
    expect(await entryCard(page, 'Entry 0').getByText('Not in the tree').count()).toBe(1)
  })

  it('LOG-43 raises an alarm if it has another key, until the visitor accepts it', async () => {
    const signer = ed25519Signer(Buffer.alloc(32, 8))
    const key: NoteKey = { name: 'before.example/log', type: 'log', publicKey: signer.publicKey }
    const checkpoint = await signCheckpoint(key, { size: 3, root: new Uint8Array(32) }, signer.sign)
    await page.evaluate(
      (other) => {
        const name = Object.keys(localStorage).find((key) => key.startsWith('svc-log-seen'))!
        const kept = JSON.parse(localStorage.getItem(name)!)
        localStorage.setItem(name, JSON.stringify({ ...kept, ...other }))
      },
      { vkey: formatKey(key), checkpoint },
    )
    await page.reload()
    await alarm(page, 'This is not the log that you saw here before')
    await click(page, 'Accept the log as it is now')
    await page.getByRole('dialog').getByRole('button', { name: 'Accept the log as it is now' }).click()
    await page.getByText('first visit to this log').waitFor()
    await page.reload()
    await page.getByText(SAME).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })
})
