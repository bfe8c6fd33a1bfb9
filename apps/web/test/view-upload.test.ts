// @module-tag nightly

// The viewer, opened by the `viewer_url` of an upload session.

import { type FinalizedUpload, openUploadSession, type UploadSession } from '@svc/api/upload-sessions'
import { createClient } from '@svc/sdk'
import { signerFromSolanaKeypair } from '@svc/sdk/signers'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSite, type Site } from './site.ts'
import { png, wav } from './view-files.ts'
import { expectCalm, expectGoodLooks, visit } from './visit.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)

let site: Site
let client: ReturnType<typeof createClient>
let session: UploadSession
/** The path of `viewer_url`. */
let viewer: string

beforeAll(async () => {
  site = await openSite()
  client = createClient({ baseUrl: site.url, signer: signerFromSolanaKeypair(site.keypair), onWarning: () => {} })
  await client.put(site.locker, 'secret.txt', utf8('nobody but the owner'), { contentType: 'text/plain' })
  const files: [string, Uint8Array | null, string][] = [
    ['inbox/notes.txt', utf8('Twelve boats came in.\n'), 'text/plain'],
    ['inbox/harbour.png', await png(site.browser), 'image/png'],
    ['inbox/tone.wav', wav(), 'audio/wav'],
    ['inbox/later.txt', null, 'text/plain'],
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
afterAll(() => site.close())

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
  it('ADD-19 SESS-03 T-61 shows the first file, lists the others, and says until when', async () => {
    const visited = await visit(site, viewer)
    const { page } = visited
    await compared(page)
    await page.getByText('Twelve boats came in.').waitFor()
    await page.getByText(/^This link works until .* It shows this upload and nothing else of the locker\.$/).waitFor()
    const entries = await listed(page).getByRole('listitem').allInnerTexts()
    expect(entries.map((entry) => entry.replace(/\s+/g, ' '))).toEqual([
      'inbox/notes.txt 22 bytes · Download',
      expect.stringMatching(/^inbox\/harbour\.png .* Download$/),
      expect.stringMatching(/^inbox\/tone\.wav .* Download$/),
      'inbox/later.txt not uploaded yet',
    ])
    await expectGoodLooks(visited, 'view-upload')
    expectCalm(visited)
    await visited.leave()
  })

  it('ADD-19 T-49 opens and downloads each file, and asks for nothing that names the receipt or another file', async () => {
    const seen: string[] = []
    const answers: Promise<void>[] = []
    const visited = await visit(site, viewer, undefined, async (page) => {
      page.on('request', (request) => seen.push(request.url(), JSON.stringify(request.headers())))
      page.on('response', (response) => {
        const text = response.text().catch(() => '')
        answers.push(text.then((body) => void seen.push(JSON.stringify(response.headers()), body)))
      })
    })
    const { page } = visited
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
    expectCalm(visited)
    await visited.leave()
  })

  it('ADD-19 T-49 says so where a file was replaced, and where the link opens nothing', async () => {
    await client.put(site.locker, 'inbox/tone.wav', utf8('something private'), { contentType: 'text/plain' })
    const replaced = await visit(site, viewer.replace('notes.txt', 'tone.wav'))
    await replaced.page.getByText('There is no such file').waitFor()
    await listed(replaced.page).getByRole('link', { name: 'inbox/notes.txt', exact: true }).waitFor()
    await replaced.leave()
    const forged = await visit(site, viewer.replace(/\.[\w-]{43}\//, `.${'A'.repeat(43)}/`))
    await forged.page.getByText('Nothing is shared with this link').waitFor()
    expect(await listed(forged.page).count()).toBe(0)
    await forged.leave()
  })
})
