import { execFile, execFileSync } from 'node:child_process'
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { seedFiles, seedReceipt } from '@svc/devnet/services/seed-lockers'
import { lockerOf } from '@svc/sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import { codeOf, type TestServer, textOf } from './client.ts'
import { useShop } from './shop.ts'

const run = promisify(execFile)

const shop = useShop()
let server: TestServer
let receipt_id: string
beforeAll(async () => {
  const { root, folder } = shop.desk
  const { SVC_WALLET } = await shop.variables('solana')
  await copyFile(SVC_WALLET!, join(root, 'wallet.json'))
  execFileSync('chmod', ['600', join(root, 'wallet.json')])
  server = await shop.start('memory', 'solana', { SVC_WALLET: join(root, 'wallet.json') })
  receipt_id = await shop.locker()

  await writeFile(join(folder, 'outside.txt'), 'not for you')
  await mkdir(join(root, 'inner/.git'), { recursive: true })
  await writeFile(join(root, 'inner/.git/config'), 'do not tell')
  await writeFile(join(root, 'inner/plain.txt'), 'fine')
  await writeFile(join(root, '.env'), 'do not tell')
  await symlink(join(folder, 'outside.txt'), join(root, 'link.txt'))
  await symlink(folder, join(root, 'up'))
  await symlink(join(root, '.env'), join(root, 'env.txt'))
  await symlink(join(root, 'wallet.json'), join(root, 'key.txt'))
  await symlink(join(root, 'inner/plain.txt'), join(root, 'good.txt'))
  await symlink('loop', join(root, 'loop'))
  execFileSync('mkfifo', [join(root, 'pipe')])
})

const put = (input: object) => server.ask('put_file', { receipt_id, filename: 'x', ...input })

describe('a path', () => {
  it.each([
    ['../outside.txt', 'path_outside_root'],
    ['/etc/passwd', 'path_outside_root'],
    ['link.txt', 'path_outside_root'],
    ['up/outside.txt', 'path_outside_root'],
    ['good.txt\0.png', 'path_outside_root'],
    ['.env', 'path_hidden'],
    ['inner/.git/config', 'path_hidden'],
    ['env.txt', 'path_hidden'],
    ['wallet.json', 'path_hidden'],
    ['key.txt', 'path_hidden'],
    ['missing.txt', 'path_unreadable'],
    ['loop', 'path_unreadable'],
    ['inner', 'not_a_file'],
    ['pipe', 'not_a_file'],
  ])('%j is not read and fails with %s', async (path, code) => {
    for (const result of [await put({ path }), await server.ask('verify', { path })]) {
      expect(codeOf(result)).toBe(code)
      expect(textOf(result)).not.toContain('do not tell')
    }
  })

  it('is read through a symbolic link if the target is below the root', async () => {
    expect((await put({ path: 'good.txt' })).structuredContent).toMatchObject({ stored: true, size_bytes: 4 })
  })
})

describe('a locker of another owner', () => {
  it("ADD-16 has no name in list_lockers, even if its tag is the name of one of the user's lockers", async () => {
    const { market } = shop
    const [own, theirs] = [market.solana(), market.solana(1)].map(({ signer }) => market.client({ signer }))
    const paid = (payer: number) => seedReceipt(market.gateway.context, { owner: DEMO_PAYERS[payer]!.address })
    const tags = ['name:photos']
    const mine = await own!.provision((await paid(0)).receipt_id, { tags })
    const strange = await theirs!.provision((await paid(1)).receipt_id, { tags })
    await theirs!.addOperator(strange, DEMO_PAYERS[0]!.address)
    const lockers = (await server.call('list_lockers')).lockers as { receipt_id: string; name: string | null }[]
    const names = new Map(lockers.map((locker) => [locker.receipt_id, locker.name]))
    expect([names.get(mine.receipt_id), names.get(strange.receipt_id)]).toEqual(['photos', null])
  })
})

describe('a URL', () => {
  it.each(['file:///etc/passwd', 'https://127.0.0.1/x', 'not an address'])('T-08 %s is not fetched', async (url) => {
    expect(codeOf(await put({ url }))).toMatch(/bad_url|validation_error/)
    expect(codeOf(await server.ask('verify', { url }))).toBe('bad_url')
  })

  it('is rejected if a path is given too', async () => {
    expect(codeOf(await put({ path: 'good.txt', url: 'https://example.com/' }))).toBe('bad_arguments')
  })
})

it('ADD-60 overwrite: false keeps an existing file, with every way to upload', async () => {
  const taken = { filename: 'taken.txt', overwrite: false }
  const write = (text: string) => server.ask('write_text', { receipt_id, ...taken, text })
  expect((await write('first')).isError).toBeFalsy()
  expect(codeOf(await write('second'))).toBe('PRECONDITION_FAILED')
  expect(codeOf(await put({ ...taken, path: 'good.txt' }))).toBe('PRECONDITION_FAILED')
  expect(codeOf(await put(taken))).toBe('bad_arguments')
  expect(await server.call('read_file', { receipt_id, filename: 'taken.txt' })).toMatchObject({ text: 'first' })
})

it('ERR-29 FILE-31 an upload error names the layer that failed: this server or the gateway', async () => {
  const layerOf = async (asked: Promise<{ _meta?: Record<string, unknown> | undefined }>) =>
    (await asked)._meta?.['svc/error'] as { details?: object }
  const advice = { recovery_hint: expect.any(String), next_best_method: expect.any(String) }
  expect(await layerOf(put({ path: '../outside.txt' }))).toMatchObject({ details: { layer: 'mcp', ...advice } })
  expect(await layerOf(put({ url: 'https://127.0.0.1/' }))).toMatchObject({ details: { layer: 'gateway', ...advice } })
  expect((await layerOf(server.ask('read_file', { receipt_id, filename: 'none' }))).details).toBeUndefined()
})

describe('put_file without a path or URL', () => {
  it('returns an upload URL and shell commands that are safe for any filename', async () => {
    const filename = "it's $(touch pwned) `x`.txt"
    const { upload, stored } = await server.call('put_file', { receipt_id, filename })
    expect(stored).toBe(false)
    const { commands } = upload as { commands: string[] }
    const script = commands.join('\n').replace('FILE', 'good.txt')
    await run('sh', ['-e', '-c', script], { cwd: shop.desk.root })
    const { files } = await server.call('list_files', { receipt_id })
    expect(files).toContainEqual(expect.objectContaining({ filename, status: 'confirmed', size_bytes: 4 }))
  })
})

describe('a receipt that the gateway does not know', () => {
  it.each<[string, object]>([
    ['put_file', { filename: 'x', path: 'good.txt' }],
    ['list_files', {}],
    ['public_link', { action: 'close' }],
    ['attest', {}],
    ['verify', {}],
    ['renew_locker', {}],
  ])('T-197 leads from %s to list_lockers, never to a purchase', async (name, input) => {
    const result = await server.ask(name, { receipt_id: `rcpt_${'e'.repeat(32)}`, ...input })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('`list_lockers`')
    expect(textOf(result)).not.toContain('`buy`')
  })
})

describe('a long list of files', () => {
  it('comes in pages with each file once', async () => {
    const receipt_id = await shop.locker()
    await seedFiles(shop.market.gateway.context, lockerOf(receipt_id).locker_id, 2500)
    const names: string[] = []
    let cursor: string | undefined
    let pages = 0
    do {
      const page = await server.call('list_files', { receipt_id, limit: 1000, ...(cursor && { cursor }) })
      names.push(...(page.files as { filename: string }[]).map(({ filename }) => filename))
      cursor = page.next_cursor as string | undefined
      pages++
    } while (cursor)
    expect(pages).toBe(3)
    expect(new Set(names).size).toBe(2500)
    expect(((await server.call('list_files', { receipt_id })).files as unknown[]).length).toBe(100)
  })
})
