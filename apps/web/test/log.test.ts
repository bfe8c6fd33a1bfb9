import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LogState } from '@svc/api/log'
import { fromBase64, toHex } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { seedStatement } from '@svc/testbed/seed-statements'
import { startTestWitness, type TestWitness } from '@svc/testbed/witness'
import { readSigned, signCheckpoint } from '@svc/transparency/checkpoint'
import { EMPTY_EDGE, grow, rootOf } from '@svc/transparency/edge'
import { formatKey, type NoteKey } from '@svc/transparency/note'
import { tilePath } from '@svc/transparency/tiles'
import { leafHash, prefixRoots } from '@svc/transparency/tree'
import type { Page, Route } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSite, type Site } from './site.ts'
import { expectCalm, expectGoodLooks, picture, visit } from './visit.ts'

const SEED = Buffer.alloc(32, 7)
const ORIGIN = 'gateway.example/log'
const DESKTOP = { width: 1280, height: 900 }

let site: Site
let witness: TestWitness
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-log-page-'))
  witness = await startTestWitness([`log ${formatKey(KEY)}`], { WITNESS_NAME: 'one.example' })
  const policy = join(folder, 'policy')
  writeFileSync(policy, `witness one ${formatKey(witness.context.key)} ${witness.url}\nquorum one\n`)
  const variables = { LOG_KEY: SEED.toString('hex'), LOG_ORIGIN: ORIGIN, LOG_POLICY_FILE: policy }
  site = await openSite({ variables })
})
afterAll(async () => {
  await site.close()
  await witness.stop()
  rmSync(folder, { recursive: true })
})

const SIGNER = ed25519Signer(SEED)
const KEY: NoteKey = { name: ORIGIN, type: 'log', publicKey: SIGNER.publicKey }

const publish = () => site.gateway.rooms.log.publish()
const size = async () => ((await (await fetch(`${site.url}/v1/log`)).json()) as LogState).size

async function addStatements(count: number): Promise<void> {
  const { context } = site.gateway
  const locker = await context.database.db
    .selectFrom('lockers')
    .selectAll()
    .where('locker_id', '=', site.locker.locker_id)
    .executeTakeFirstOrThrow()
  for (let i = 0; i < count; i++) await seedStatement(context, locker)
}

/** As a gateway that shows another history under the same key. */
async function otherLog(count: number): Promise<Map<string, Buffer>> {
  const leaves = Array.from({ length: count }, (_, i) => leafHash(Buffer.from(`another entry ${i}`)))
  const { edge, tiles } = grow(EMPTY_EDGE, leaves)
  const checkpoint = await signCheckpoint(KEY, { size: count, root: rootOf(edge) }, SIGNER.sign)
  const files = tiles.map((tile) => [tilePath(tile), Buffer.from(tile.bytes)] as const)
  return new Map([['checkpoint', Buffer.from(checkpoint)], ...files])
}

const LOG_FILES = /\/log\/(checkpoint|tile\/.*)$/

async function show(page: Page, files: Map<string, Buffer> | null): Promise<void> {
  await page.unrouteAll({ behavior: 'wait' })
  if (!files) return
  await page.route(LOG_FILES, (route: Route) => {
    const body = files.get(LOG_FILES.exec(route.request().url())![1]!)
    return body ? route.fulfill({ body }) : route.fulfill({ status: 404, json: { error: 'not_in_log' } })
  })
}

const alarm = (page: Page, name: string) => page.getByRole('alert').getByRole('heading', { name }).waitFor()
const entryCard = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const lookUp = async (page: Page, text: string) => {
  await page.getByLabel('Entry number or statement digest').fill(text)
  await page.getByRole('button', { name: 'Look up' }).click()
}

it('LOG-40 LOG-41 LOG-42 shows an empty log, then what is signed, who vouches, and every entry, each checked here', async () => {
  const visited = await visit(site, '/log', { permissions: ['clipboard-read', 'clipboard-write'] })
  const { page } = visited
  await page.getByRole('heading', { name: 'The log is empty' }).waitFor()
  await expectGoodLooks(visited, 'log-empty')
  await page.setViewportSize(DESKTOP)

  await publish()
  await page.getByRole('button', { name: 'Read again' }).click()
  await page.getByText('Your browser is seeing this log for the first time, and remembers it with 1 entry.').waitFor()
  await page.getByText('No checkpoint has been published on chain yet.').waitFor()
  await page.getByText(/^one cosigned on .* UTC$/).waitFor()

  // An hour later the checkpoint is anchored, and the log has grown.
  const { database, queue } = site.gateway.context
  await database.db
    .updateTable('log_checkpoints')
    .set(({ eb }) => ({ signed_at: eb('signed_at', '-', 7200) }))
    .execute()
  await database.db.transaction().execute((tx) => queue.enqueue(tx, 'anchor-log', {}))
  await queue.drain()
  await addStatements(22)
  const lost = {
    receipt_id: 'rcpt_lost',
    sequence: 1,
    locker_id: 'lost',
    snapshot_key: 'lost',
    statement_digest: '5'.repeat(64),
    record: '{}',
    anchor: null,
    issued_at: 0,
  }
  await database.db.insertInto('statements').values(lost).execute()
  await publish()
  await page.reload()
  await page.getByText(/^This log has only grown since you were here \(1 entry on .* UTC\)\.$/).waitFor()
  await page.getByText('23 entries more').waitFor()
  await page.getByText('The first entry is published on chain.').waitFor()
  await page.getByText('The published root matches these entries.').waitFor()
  await page.getByText(/^slot [\d,]+/).waitFor()
  const state = (await (await fetch(`${site.url}/v1/log`)).json()) as LogState
  await page.getByRole('button', { name: 'Copy Key of the log' }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(state.vkey)
  expect(await entryCard(page, 'The newest checkpoint').getByText(state.root!).count()).toBe(1)

  const rows = page.getByRole('region', { name: 'Entries of the log' }).getByRole('row')
  await rows.nth(20).waitFor()
  expect(await rows.nth(1).textContent()).toMatch(/^23proven555555555555…lost/)
  expect(await rows.nth(2).textContent()).toMatch(/^22proven.*not yet$/)
  expect(await page.getByRole('cell', { name: 'not proven' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Older' }).click()
  await page.getByText('19 to 0 of 24').waitFor()
  await page.getByRole('link', { name: 'Entry 0', exact: true }).click()
  await entryCard(page, 'Entry 0').getByText('Proven here').waitFor()
  expect(await entryCard(page, 'Entry 0').textContent()).toContain(site.digest)
  expect(page.url()).toBe(`${site.url}/log#0`)
  await expectGoodLooks(visited, 'log')
  // The browser reports the 404 of the empty log.
  visited.problems.splice(0, visited.problems.length, ...visited.problems.filter((each) => !each.includes('404')))
  expectCalm(visited)

  await page.setViewportSize(DESKTOP)
  await lookUp(page, '23')
  await page.getByText('The gateway no longer has this statement.').waitFor()
  await lookUp(page, '24')
  await page.getByText('There is no such entry: the log has 24 entries, and the last one is 23.').waitFor()
  await lookUp(page, '-1')
  await page.getByText('This is neither the number of an entry nor a digest').waitFor()
  await lookUp(page, 'x')
  await page.getByText('This is neither the number of an entry nor a digest').waitFor()
  await lookUp(page, '7'.repeat(64))
  await page.getByRole('heading', { name: 'The log has no such statement' }).waitFor()
  await lookUp(page, site.digest.toUpperCase())
  await entryCard(page, 'Entry 0').getByText('Proven here').waitFor()
  expect(await page.evaluate(() => document.activeElement?.className)).toBe('log-entry')
  await page.getByText('The signed statement').click()
  await page.getByText('"merkle_algorithm"').waitFor()
  await picture(page, 'log-entry')
  // A statement of after the page was read.
  await addStatements(1)
  await publish()
  await lookUp(page, '24')
  await entryCard(page, 'Entry 24').getByText('Proven here').waitFor()
  await page.getByRole('button', { name: 'Close the entry' }).click()
  await entryCard(page, 'Entry 24').waitFor({ state: 'detached' })
  await visited.leave()
})

it('LOG-43 raises an alarm where the log has another history, is smaller, or another, and keeps the evidence', async () => {
  const visited = await visit(site, '/log')
  const { page } = visited
  await page.getByText('for the first time').waitFor()
  const seen = await size()
  const forged = await otherLog(seen + 3)
  await show(page, forged)
  await page.reload()
  await alarm(page, 'This log has rewritten its history')
  await expectGoodLooks(visited, 'log-alarm')
  await page.setViewportSize(DESKTOP)
  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save both checkpoints' }).click()
  const saved = JSON.parse(readFileSync(await (await saving).path(), 'utf8')) as { kind: string; evidence: string[] }
  const [earlier, later] = saved.evidence.map((text) => readSigned(text, [KEY]))
  if (typeof earlier !== 'object' || typeof later !== 'object') throw new Error('the evidence is not signed')
  const path = saved.evidence[2]!.trimEnd()
    .split('\n')
    .map((line) => fromBase64(line)!)
  const roots = prefixRoots(earlier.size, later.size, path)!
  expect([saved.kind, toHex(roots.later)]).toEqual(['fork', toHex(later.root)])
  expect(toHex(roots.earlier)).not.toBe(toHex(earlier.root))

  // It stays until the visitor says otherwise, also where the log is honest in between.
  await page.reload()
  await alarm(page, 'This log has rewritten its history')
  await show(page, null)
  await page.reload()
  await page.getByText('This log is the same as when you were here').waitFor()
  // An entry that the tiles do not have.
  await page.route(/\/v1\/log\/statements/, async (route) => {
    const text = await (await route.fetch()).text()
    await route.fulfill({ body: text.replaceAll(site.digest, '4'.repeat(64)) })
  })
  await lookUp(page, '0')
  await entryCard(page, 'Entry 0').getByText('Do not rely on it.').first().waitFor()
  expect(await entryCard(page, 'Entry 0').getByText('Not in the tree').count()).toBe(1)

  await show(page, await otherLog(seen - 1))
  await page.reload()
  await alarm(page, 'This log has taken entries back')
  // Tiles that are missing prove nothing, and are no good news.
  await show(page, new Map([['checkpoint', forged.get('checkpoint')!]]))
  await page.reload()
  await page.getByText('It could not be checked whether this log has only grown').waitFor()
  const unsigned = forged
    .get('checkpoint')!
    .toString()
    .replace(`\n${seen + 3}\n`, `\n${seen + 4}\n`)
  await show(page, new Map([['checkpoint', Buffer.from(unsigned)]]))
  await page.reload()
  await page.getByRole('heading', { name: 'This is not what the log has signed' }).waitFor()
  await show(page, null)
  await page.route(/\/v1\/log$/, (route) => route.fulfill({ status: 503, json: { error: 'STORAGE_UNAVAILABLE' } }))
  await page.reload()
  await page.getByRole('heading', { name: 'The log cannot be read right now' }).waitFor()
  await show(page, null)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('This log is the same as when you were here').waitFor()

  // Another key, as of a new log.
  await page.evaluate(
    (vkey) => {
      const name = Object.keys(localStorage).find((key) => key.startsWith('svc-log-seen'))!
      const kept = JSON.parse(localStorage.getItem(name)!)
      localStorage.setItem(name, JSON.stringify({ ...kept, ...vkey }))
    },
    await ofOtherKey(),
  )
  await page.reload()
  await alarm(page, 'This is not the log that you saw here before')
  await page.getByRole('button', { name: 'Accept the log as it is now' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Accept the log as it is now' }).click()
  await page.getByText('for the first time').waitFor()
  await page.reload()
  await page.getByText('This log is the same as when you were here').waitFor()
  await visited.leave()
})

async function ofOtherKey(): Promise<{ vkey: string; checkpoint: string }> {
  const signer = ed25519Signer(Buffer.alloc(32, 8))
  const key: NoteKey = { name: 'before.example/log', type: 'log', publicKey: signer.publicKey }
  const head = { size: 3, root: new Uint8Array(32) }
  return { vkey: formatKey(key), checkpoint: await signCheckpoint(key, head, signer.sign) }
}

it('LOG-44 is beside the files of the log, works under a prefix, and is linked from the other pages', async () => {
  const checkpoint = await fetch(`${site.url}/log/checkpoint`)
  expect(checkpoint.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect((await fetch(`${site.url}/log`)).headers.get('content-type')).toBe('text/html; charset=utf-8')

  const prefixed = await visit({ ...site, url: site.prefixedUrl }, '/')
  const { page } = prefixed
  await page.getByRole('link', { name: /entries in the public log/ }).click()
  await page.getByText('for the first time').waitFor()
  expect(page.url()).toBe(`${site.prefixedUrl}/log`)
  await page.getByRole('cell', { name: 'proven', exact: true }).first().waitFor()
  expectCalm(prefixed)
  await page.goto(`${site.prefixedUrl}/`)
  await page.getByRole('searchbox').fill(site.digest)
  await page.getByRole('searchbox').press('Enter')
  await page.getByRole('link', { name: 'Show it in the public log' }).click()
  await entryCard(page, 'Entry 0').getByText('Proven here').waitFor()
  await page.goto(`${site.prefixedUrl}/verify/${site.locker.receipt_id}`)
  await page.getByRole('link', { name: 'Show this statement in the public log' }).click()
  await page.getByText('Proven here').waitFor()
  await prefixed.leave()
})
