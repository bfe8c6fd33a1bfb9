import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@svc/sdk'
import { decryptedDownload, encrypted, passphraseKey } from '@svc/sdk/encryption'
import { signerFromSolanaKeypair } from '@svc/sdk/signers'
import { seedManyFiles } from '@svc/testbed/seed-bulk'
import { seedLocker } from '@svc/testbed/seed-lockers'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSite, type Site } from './site.ts'
import { expectCalm, expectGoodLooks, visit } from './visit.ts'

let site: Site
let folder: string

beforeAll(async () => {
  site = await openSite()
  folder = mkdtempSync(join(tmpdir(), 'svc-files-'))
})
afterAll(async () => {
  await site.close()
  rmSync(folder, { recursive: true })
})

async function newLocker() {
  const signer = signerFromSolanaKeypair(site.keypair)
  const locker = await seedLocker(site.gateway.context, { owner: signer.address })
  const client = createClient({ baseUrl: site.url, signer, onWarning: () => {} })
  const names = async () => {
    const found: string[] = []
    for await (const { filename } of client.files(locker)) found.push(filename)
    return found
  }
  const text = async (name: string) => new TextDecoder().decode(await (await client.get(locker, name)).bytes())
  return { locker, client, names, text }
}

const KEY_FILE = () => ({
  name: 'id.json',
  mimeType: 'application/json',
  buffer: Buffer.from(JSON.stringify(site.keypair)),
})

async function unlock(page: Page): Promise<void> {
  await page.getByLabel('Open a key file').setInputFiles(KEY_FILE())
  await page.getByRole('button', { name: 'Encrypt', exact: true }).waitFor()
}

async function visitFiles(lockerId: string, hash = '', prepare?: (page: Page) => Promise<void>) {
  const visited = await visit(site, `/locker/${lockerId}${hash}`, { acceptDownloads: true }, prepare)
  await unlock(visited.page)
  return visited
}

/** As a person drops files and folders from the desktop. */
async function dropPaths(page: Page, paths: readonly string[]): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const { x, y, width } = (await page.locator('.files').boundingBox())!
  const data = { items: [], files: [...paths], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, x: x + width / 2, y: y + 40, data })
}

const row = (page: Page, name: string) => page.getByRole('row').filter({ has: page.getByRole('button', { name, exact: true }) })
const openFile = (page: Page, name: string) => row(page, name).getByRole('button', { name, exact: true }).click()
const picker = (page: Page) => page.getByLabel('Upload files')
const textFile = (name: string, text = name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })

describe('uploads', () => {
  it('FILE-12 T-61 takes files and folders that are dropped, an empty file and thousands of small ones', async () => {
    const { locker, names, text } = await newLocker()
    const visited = await visitFiles(locker.locker_id)
    const { page } = visited
    await page.getByText('No files yet').waitFor()
    await expectGoodLooks(visited, 'files-empty')
    await page.setViewportSize({ width: 1280, height: 900 })
    const dropped = join(folder, 'photos')
    mkdirSync(join(dropped, 'deep'), { recursive: true })
    writeFileSync(join(dropped, 'a.txt'), 'in a folder')
    writeFileSync(join(dropped, 'deep', 'b.txt'), 'deep')
    writeFileSync(join(folder, 'alone.txt'), '')
    await dropPaths(page, [dropped, join(folder, 'alone.txt')])
    await page.getByText('3 of 3 files').waitFor()
    expect(await names()).toEqual(['alone.txt', 'photos/a.txt', 'photos/deep/b.txt'])
    expect([await text('alone.txt'), await text('photos/deep/b.txt')]).toEqual(['', 'deep'])

    const many = join(folder, 'many')
    mkdirSync(many)
    for (let i = 0; i < 1200; i++) writeFileSync(join(many, `${String(i).padStart(4, '0')}.txt`), `file ${i}`)
    await page.getByLabel('Upload a folder').setInputFiles(many)
    await page.getByText('1,203 of 1,203 files').waitFor()
    expect((await names()).length).toBe(1203)
    await page.getByRole('button', { name: 'Clear' }).click()
    await row(page, 'many').waitFor()
    await expectGoodLooks(visited, 'files-folders')
    expectCalm(visited)
    await visited.leave()
  })
})
