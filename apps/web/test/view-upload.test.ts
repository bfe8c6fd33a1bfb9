// @module-tag nightly

// The viewer, opened by the `viewer_url` of an upload session.

import { type FinalizedUpload, openUploadSession, type UploadSession } from '@svc/api/upload-sessions'
import { createClient } from '@svc/sdk'
import { signerFromSolanaKeypair } from '@svc/sdk/signers'
import type { Page } from 'playwright'
import { beforeAll, describe, expect, it } from 'vitest'
import { useSite } from './site.ts'
import { expectAccessible, expectNoErrors, fixture, visit } from './visit.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)

const site = useSite()
let client: ReturnType<typeof createClient>
let session: UploadSession
/** The path of the `viewer_url`. */
let viewer: string

beforeAll(async () => {
  client = createClient({ baseUrl: site.url, signer: signerFromSolanaKeypair(site.keypair), onWarning: () => {} })
  await client.put(site.locker, 'secret.txt', utf8('nobody but the owner'), { contentType: 'text/plain' })
  const files: [string, Uint8Array | null, string][] = [
    ['inbox/notes.txt', utf8('Twelve boats came in.\n'), 'text/plain'],
    ['inbox/harbour.png', fixture('harbour.png'), 'image/png'],
    ['inbox/tone.wav', fixture('tone.wav'), 'audio/wav'],
    ['inbox/later.txt', null, 'text/plain'],
    ['inbox/film.webm', fixture('film.webm'), 'video/webm'],
  ]
  const opened = await client.call(openUploadSession, {
    params: { locker_id: site.locker.locker_id },
    body: { files: files.map(([filename, , content_type]) => ({ filename, content_type })), ttl_min: 600 },
  })
  session = opened.body
  for (const [i, [, bytes]] of files.entries()) if (bytes) await send(`files/f_000${i + 1}/parts?index=0`, bytes)
  const { viewer_url } = (await (await send('finalize')).json()) as FinalizedUpload
  viewer = new URL(viewer_url as string).pathname
})

async function send(path: string, body?: Uint8Array): Promise<Response> {
  const headers = {
    'x-upload-token': session.upload_token,
    ...(body && { 'content-type': 'application/octet-stream' }),
  }
  const url = `${site.url}/v1/upload-sessions/${session.session_id}/${path}`
  const response = await fetch(url, { method: 'POST', headers, ...(body && { body: Buffer.from(body) }) })
  expect(response.status, path).toBe(200)
  return response
}

const listed = (page: Page) => page.getByRole('region', { name: 'Files of this upload' })
const compared = (page: Page) => page.getByText('Matches what was received').waitFor()

describe('the viewer of an upload', () => {
  it('ADD-19 SESS-03 shows the first file, lists the others, and shows when the link expires', async () => {
    const { page } = await visit(site, viewer)
    await compared(page)
    await page.getByText('Twelve boats came in.').waitFor()
    await page.getByText(/^This link works until .* It shows this upload and nothing else of the locker\.$/).waitFor()
    const entries = await listed(page).getByRole('listitem').allInnerTexts()
    expect(entries.map((entry) => entry.replace(/\s+/g, ' '))).toEqual(
      expect.arrayContaining(['inbox/notes.txt 22 bytes · Download', 'inbox/later.txt not uploaded yet']),
    )
    await expectAccessible(page, 'view-upload')
    expectNoErrors(page)
  })

  it('ADD-19 T-49 opens and downloads each file, and sends no request that names the receipt or another file', async () => {
    const seen: string[] = []
    const answers: Promise<void>[] = []
    const { page } = await visit(site, viewer, undefined, async (page) => {
      page.on('request', (request) => seen.push(request.url(), JSON.stringify(request.headers())))
      page.on('response', (response) => {
        const text = response.text().catch(() => '')
        answers.push(text.then((body) => void seen.push(JSON.stringify(response.headers()), body)))
      })
    })
    await compared(page)
    await listed(page).getByRole('link', { name: 'inbox/harbour.png', exact: true }).click()
    await page.getByRole('img', { name: 'Picture: inbox/harbour.png' }).waitFor()
    await compared(page)
    await listed(page).getByRole('link', { name: 'inbox/tone.wav', exact: true }).click()
    await page.locator('audio').waitFor()
    await listed(page).getByText('not uploaded yet').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      listed(page).getByRole('link', { name: 'Download inbox/notes.txt' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('notes.txt')
    await page.waitForLoadState('networkidle')
    await Promise.all(answers)
    const all = seen.join('\n')
    expect(all).toContain(session.session_id)
    for (const hidden of [site.locker.receipt_id, 'secret.txt', session.upload_token]) expect(all).not.toContain(hidden)
    expectNoErrors(page)
  })

  it('ADD-19 T-49 reports that a file was replaced, and that a link is invalid', async () => {
    await client.put(site.locker, 'inbox/film.webm', utf8('something private'), { contentType: 'text/plain' })
    const { page } = await visit(site, viewer.replace('notes.txt', 'film.webm'))
    await page.getByText('File not found').waitFor()
    await listed(page).getByRole('link', { name: 'inbox/notes.txt', exact: true }).waitFor()
    await page.goto(site.url + viewer.replace(/\.[\w-]{43}\//, `.${'A'.repeat(43)}/`))
    await page.getByText('This link does not work').waitFor()
    expect(await listed(page).count()).toBe(0)
  })
})
