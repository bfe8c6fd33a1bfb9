// The file commands of an owner, against a real gateway.

import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startProcess } from '@svc/devnet/start-process'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { Interrupted } from '../../src/errors.ts'
import { run } from '../../src/run.ts'
import { type LockerHome, newWallet, openLockerHome } from '../locker.ts'
import { jsonDocument, jsonLines, testWorld } from '../world.ts'

let home: LockerHome
beforeAll(async () => {
  home = await openLockerHome()
})
afterAll(() => home.leave())
afterEach(() => home.house.proxy.behave())

const inHome = (...parts: string[]) => join(home.folder, ...parts)
const names = (text: string) => jsonLines(text).map(({ filename }) => filename)
const statuses = (text: string) => Object.fromEntries(jsonLines(text).map(({ filename, status }) => [filename, status]))

async function folderOf(name: string, files: Record<string, string | Buffer>): Promise<string> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(inHome(name, file)), { recursive: true })
    await writeFile(inHome(name, file), text)
  }
  return inHome(name)
}

const svc = async (...args: string[]) => {
  const result = await home.svc(args)
  expect([result.exitCode, result.stderr.includes('error')], result.stderr + result.stdout).toEqual([0, false])
  return result
}

describe('put, ls, get', () => {
  const large = Buffer.alloc(9 * 1024 * 1024, 'large')
  const FILES = { 'a.txt': 'a', 'sub/ü b.md': '# b', 'sub/empty': '', 'large.bin': large }

  it('never upload key files or the config folder of svc, even through a symbolic link', async () => {
    const folder = await folderOf('with-keys', { 'a.txt': 'a' })
    await symlink('..', join(folder, 'home'))
    const { stderr } = await home.svc(['put', folder, '--follow', '--exclude', '*.txt', '--to', 'backup'])
    expect(stderr).toContain('left out: home/owner.json (it holds your keys)')
    expect(stderr).toContain('left out: home/config/svc (it holds your keys)')
    expect(await home.svc(['put', inHome('owner.json')])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('it is not sent'),
    })
    await svc('profile', 'new', 'other', '--gateway', home.house.proxy.url)
    const ofOther = inHome('config', 'svc', 'profiles', 'other')
    await newWallet(ofOther, 'wallet.json')
    for (const path of [join(ofOther, 'wallet.json'), ofOther, inHome('config', 'svc', 'config.json')])
      for (const more of [[], ['--profile', 'other', '--locker', home.receiptId]])
        expect((await home.svc(['put', path, ...more])).stderr).toContain('holds your keys: it is not sent')
    expect(names((await svc('ls', '--json')).stdout)).toEqual([])
  })

  it('FILE-01 FILE-16 upload a folder, download it byte for byte, and skip unchanged files', async () => {
    const folder = await folderOf('in', FILES)
    await symlink('a.txt', join(folder, 'link'))
    const first = await svc('put', folder)
    expect(first.stderr).toContain('left out: link (a symbolic link)')
    expect(first.stdout.split('\n').filter((line) => line.startsWith('✓'))).toHaveLength(4)
    const { proxy } = home.house
    const before = proxy.seen.length
    expect(Object.values(statuses((await svc('put', folder, '--json')).stdout))).toEqual(Array(4).fill('unchanged'))
    expect(proxy.seen.slice(before).map(({ method, path }) => `${method} ${path}`)).toEqual([
      expect.stringMatching(/^POST .*files\/urls$/),
    ])
    await writeFile(join(folder, 'a.txt'), 'A')
    expect(statuses((await svc('put', folder, '--json')).stdout)).toMatchObject({
      'a.txt': 'stored',
      'large.bin': 'unchanged',
    })

    expect(names((await svc('ls', '--json')).stdout)).toEqual(['a.txt', 'large.bin', 'sub/empty', 'sub/ü b.md'])
    expect((await svc('ls', 'sub')).stdout).toMatch(/SIZE +RECORDED +NAME\n +0 B .* sub\/empty\n +3 B .* sub\/ü b\.md/)
    await svc('get', '-o', inHome('out'))
    for (const [name, content] of Object.entries({ ...FILES, 'a.txt': 'A' }))
      expect(Buffer.compare(await readFile(inHome('out', name)), Buffer.from(content)), name).toBe(0)
    expect(Object.values(statuses((await svc('get', '-o', inHome('out'), '--json')).stdout))).toEqual(
      Array(4).fill('unchanged'),
    )
    expect(await readdir(inHome('out'))).toEqual(['a.txt', 'large.bin', 'sub'])
  })

  it('SESS-02 SESS-04 resume a large file that failed, with only the part that is missing', {
    tags: ['nightly'],
  }, async () => {
    const { proxy } = home.house
    const refusal = { error: 'service_unavailable', message: 'not now', request_id: 'r' }
    proxy.plan(/index=2&/, { answer: { status: 500, body: refusal } })
    const bytes = Buffer.alloc(17 * 1024 * 1024, 'resumed')
    const file = join(await folderOf('cut', { 'resumed.bin': bytes }), 'resumed.bin')
    expect(await home.svc(['put', file])).toMatchObject({ exitCode: 1 })
    const before = proxy.seen.length
    await svc('put', file)
    const sent = proxy.seen.slice(before).flatMap(({ path }) => /index=(\d+)&/.exec(path)?.[1] ?? [])
    expect(sent).toEqual(['2'])
    await svc('get', 'resumed.bin', '-o', inHome('cut-out'))
    expect((await readFile(inHome('cut-out', 'resumed.bin'))).equals(bytes)).toBe(true)
    await svc('rm', 'resumed.bin', '--yes')
  })

  it('derive the content type from the name, and accept --as, --to and standard input', async () => {
    await svc('put', inHome('in', 'a.txt'), '--as', 'b.png', '--to', 'pictures')
    expect(await home.svc(['put', '-', '--as', 'piped.json', '--quiet'], { stdin: '{}' })).toMatchObject({
      exitCode: 0,
    })
    const entries = jsonLines((await svc('ls', 'pictures', 'piped.json', '--json')).stdout)
    expect(entries.map(({ content_type }) => content_type)).toEqual(['image/png', 'application/json'])
    expect((await svc('get', 'piped.json', '-o', '-')).stdout).toBe('{}')
    expect((await home.svc(['put', '-'])).exitCode).toBe(2)
  })

  it('replace files on disk only with --overwrite', async () => {
    await folderOf('mine', { 'a.txt': 'my own words' })
    const args = ['get', 'a.txt', '-o', inHome('mine')]
    expect(await home.svc(args)).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('with other bytes') })
    expect(await readFile(inHome('mine', 'a.txt'), 'utf8')).toBe('my own words')
    await svc(...args, '--overwrite')
    expect(await readFile(inHome('mine', 'a.txt'), 'utf8')).toBe('A')
  })

  it('cat, stat and du show what is in a file, what it is, and how much there is', async () => {
    expect((await svc('cat', 'a.txt', 'piped.json')).stdout).toBe('A{}')
    const { stdout } = await svc('stat', 'large.bin')
    expect(stdout).toMatch(
      /size +9\.00 MiB \(9437184 bytes\)\ntype +application\/octet-stream\nhash +sha256:[0-9a-f]{64}/,
    )
    expect(jsonDocument((await svc('stat', 'a.txt', '--json')).stdout)).toMatchObject({ size_bytes: 1 })
    const totals = jsonLines((await svc('du', '--json')).stdout)
    expect(totals[0]).toEqual({ name: 'large.bin', files: 1, size_bytes: large.length })
    expect(totals).toContainEqual({ name: 'sub/', files: 2, size_bytes: 3 })
    expect((await svc('du', 'sub')).stdout).toMatch(/SIZE +FILES +NAME\n +3 B +2 +sub/)
  })

  it('fail for names and paths that do not exist', async () => {
    for (const command of [['get'], ['ls'], ['du'], ['stat'], ['rm', '-r', '--yes']])
      expect(await home.svc([...command, 'nothing']), command.join(' ')).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('no nothing'),
      })
    expect(await home.svc(['cat', 'nothing'])).toMatchObject({ exitCode: 1, stdout: '' })
    expect(await home.svc(['get', 'a.txt', 'b.txt', '-o', '-'])).toMatchObject({ exitCode: 2 })
    expect(await home.svc(['put', inHome('nowhere')])).toMatchObject({ exitCode: 2 })
  })

  it('FILE-30 let a stranger with the receipt id download files by name, but not list them', async () => {
    const env = { SVC_LOCKER: home.receiptId, XDG_CONFIG_HOME: inHome('stranger') }
    const stranger = (...args: string[]) => home.svc(args, { env })
    expect(await stranger('get', 'a.txt', '-o', inHome('public'))).toMatchObject({ exitCode: 0 })
    expect(await readFile(inHome('public', 'a.txt'), 'utf8')).toBe('A')
    expect((await stranger('get', 'a.txt', '-o', '-')).stdout).toBe('A')
    expect(await stranger('get')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('name the files') })
    expect(await stranger('ls')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('needs a wallet') })
    expect((await svc('get', '--public', 'a.txt', '-o', '-')).stdout).toBe('A')
  })
})

describe('an untrue answer of the gateway', () => {
  const get = () => home.svc(['get', '-o', inHome('lied-to')])

  it('FILE-05 about filenames cannot write outside the target folder', async () => {
    home.house.proxy.always(/manifest/, {
      lie: (body: { files: object[] }) => ({ ...body, files: [{ ...body.files[0], filename: '../../evil' }] }),
    })
    expect(await get()).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('"../../evil"') })
    home.house.proxy.behave()
    home.house.proxy.always(/files\/urls/, {
      lie: (body: { urls: object[] }) => ({ ...body, urls: [{ ...body.urls[0], filename: '../evil' }] }),
    })
    const { exitCode, stdout } = await get()
    expect([exitCode, stdout]).toEqual([3, expect.stringContaining('nobody asked for')])
    expect(await readdir(inHome('lied-to'))).not.toContain('evil')
    expect(await readdir(home.folder)).not.toContain('evil')
  })

  it('about a hash is reported, and nothing is saved', async () => {
    const hash = `sha256:${'0'.repeat(64)}`
    home.house.proxy.always(/manifest/, {
      lie: (body: { files: object[] }) => ({ ...body, files: [{ ...body.files[0], content_hash: hash }] }),
    })
    const { exitCode, stdout } = await get()
    expect([exitCode, stdout]).toEqual([3, expect.stringMatching(/✗ a\.txt: the service does not tell the truth/)])
    expect(await readdir(inHome('lied-to'))).not.toContain('a.txt')
  })

  it('about its keys is detected when the keys are pinned', async () => {
    home.house.proxy.always(/v1\/keys/, {
      lie: (body: { keys: object[] }) => ({
        ...body,
        keys: [{ ...body.keys[0], public_key_hex: '22'.repeat(32), key_id: `ed25519:${'22'.repeat(8)}` }],
      }),
    })
    expect(await home.svc(['keys'])).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('not pinned') })
  })
})

describe('url, operators and rm', () => {
  it('SHORT-05 a URL gives the file to anyone who has it', async () => {
    const { stdout } = await svc('url', 'a.txt', '--ttl', '5', '--json')
    const { url, expires_in_sec } = jsonDocument<{ url: string; expires_in_sec: number }>(stdout)
    expect([await (await fetch(url)).text(), expires_in_sec]).toEqual(['A', 300])
    const lasting = (await svc('url', 'sub/ü b.md', '--public')).stdout.trim()
    expect(await (await fetch(lasting)).text()).toBe('# b')
    expect(await home.svc(['url', 'nothing'])).toMatchObject({ exitCode: 1 })
  })

  it('SHORT-01 share gives a URL for the time that is named, also as a QR code', async () => {
    const { stdout } = await svc('share', 'a.txt', '--expires', '2h', '--json')
    const { url, expires_in_sec } = jsonDocument<{ url: string; expires_in_sec: number }>(stdout)
    expect([await (await fetch(url)).text(), expires_in_sec]).toEqual(['A', 7200])
    const shown = await svc('share', 'a.txt', '--expires', '45m', '--qr')
    expect(shown.stderr).toMatch(/[▀▄█]{20}.*It works for 45 minutes/s)
    expect((await svc('share', 'a.txt', '--public')).stdout).toContain('/a.txt')
    for (const time of ['2', '0m', '25h', '2d', 'soon', '-1h'])
      expect(await home.svc(['share', 'a.txt', '--expires', time]), time).toMatchObject({ exitCode: 2 })
    expect(await home.svc(['share', 'a.txt', '--expires', '2h', '--public'])).toMatchObject({ exitCode: 2 })
  })

  it('T-36 revoking ends the URLs of the locker, after a question', async () => {
    const url = async () => (await svc('url', 'a.txt')).stdout.trim()
    const before = await url()
    expect((await home.svc(['revoke'], { stdin: 'n\n' })).exitCode).not.toBe(0)
    expect((await fetch(before)).status).toBe(200)
    await svc('revoke', '--yes')
    expect([(await fetch(before)).status, (await fetch(await url())).status]).toEqual([403, 200])
  })

  it('T-49 the public link is shown, rotated, closed and opened again', async () => {
    const lasting = async () => (await svc('url', 'a.txt', '--public')).stdout.trim()
    const first = await lasting()
    expect((await svc('link')).stdout).toContain(`/v1/r/${home.receiptId}/f/<name>`)
    await svc('link', 'rotate', '--yes')
    const second = await lasting()
    expect([(await fetch(first)).status, await (await fetch(second)).text()]).toEqual([404, 'A'])
    const { id } = jsonDocument<{ id: string }>((await svc('link', '--json')).stdout)
    expect(second).toContain(id)
    expect((await svc('link', 'close')).stdout).toContain('closed')
    expect((await fetch(second)).status).toBe(404)
    expect(await home.svc(['url', 'a.txt', '--public'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('svc link open'),
    })
    await svc('link', 'open')
    expect((await fetch(second)).status).toBe(200)
  })

  it('T-49 what the CLI says of the public link is what the gateway does', { tags: ['nightly'] }, async () => {
    const own = await openLockerHome()
    onTestFinished(() => own.leave())
    const { receiptId: receipt_id } = own
    const inOwn = async (...args: string[]) => {
      const result = await own.svc(args)
      expect(result.exitCode, result.stderr).toBe(0)
      return result
    }
    const bundleUrl = (id: string) => `${own.house.gateway.url}/v1/storage/evidence-bundle?receipt_id=${id}`
    const publicly = async (id: string) => {
      const [file, evidence] = await Promise.all([
        fetch(`${own.house.gateway.url}/v1/r/${id}/f/a.txt`),
        fetch(bundleUrl(id)),
      ])
      return [file.status, (await evidence.text()).includes('"a.txt"')]
    }
    await inOwn('put', join(await folderOf('linked', { 'a.txt': 'a' }), 'a.txt'))
    await inOwn('attest')
    const temporary = (await inOwn('share', 'a.txt')).stdout.trim()

    const opened = 'open every file in the locker. Once the locker is attested, the evidence at the same id lists all'
    expect((await inOwn('share', 'a.txt', '--public')).stderr).toContain(opened)
    expect((await inOwn('link')).stderr).toContain(opened)
    expect(await publicly(receipt_id)).toEqual([200, true])

    const rotated = await inOwn('link', 'rotate', '--yes')
    expect(rotated.stderr).toMatch(/open every file in the locker whose name they know.*not at this id/)
    const { id } = jsonDocument<{ id: string }>((await inOwn('link', '--json')).stdout)
    expect([await publicly(receipt_id), await publicly(id)]).toEqual([
      [404, true],
      [200, false],
    ])

    const closed = await inOwn('link', 'close')
    expect(closed.stderr).toMatch(/already handed out .*work until they expire.*`svc revoke`.*Evidence stays public/)
    expect([await publicly(receipt_id), await publicly(id)]).toEqual([
      [404, true],
      [404, false],
    ])
    expect((await fetch(temporary)).status).toBe(200)
    await inOwn('put', join(home.folder, 'linked', 'a.txt'), '--as', 'later.txt')
    await inOwn('attest')
    expect(await (await fetch(bundleUrl(receipt_id))).text()).toContain('"later.txt"')
    await inOwn('revoke', '--yes')
    expect((await fetch(temporary)).status).toBe(403)
  })

  it('LOG-27 anchoring is shown, left to the log and taken back', async () => {
    expect((await svc('anchoring')).stdout).toContain('each')
    expect((await svc('anchoring', 'log')).stdout).toContain('checkpoints of the log')
    expect(jsonDocument((await svc('anchoring', '--json')).stdout)).toMatchObject({ anchoring: 'log' })
    expect((await svc('anchoring', 'each')).stdout).toContain('each')
  })

  it('ADD-46 a tus token is printed with a snippet that uploads', async () => {
    const snippet = (await svc('tus', 'token', '--ttl', '5', '--prefix', 'in/')).stdout
    const [script, source] = [join(home.folder, 'upload.mjs'), join(home.folder, 'by-tus.txt')]
    const client = pathToFileURL(createRequire(import.meta.url).resolve('tus-js-client')).href
    await writeFile(script, snippet.replace("'tus-js-client'", `'${client}'`))
    await writeFile(source, 'by tus')
    const { stdout } = await startProcess(pathToFileURL(script), { args: [source] }).ended
    expect(stdout.trim()).toBe(`sha256:${createHash('sha256').update('by tus').digest('hex')}`)
    expect((await svc('cat', 'in/by-tus.txt')).stdout).toBe('by tus')
    await svc('rm', 'in/by-tus.txt', '--yes')
    expect(jsonDocument((await svc('tus', 'token', '--json')).stdout)).toMatchObject({
      tus_endpoint: expect.stringContaining('/tus'),
    })
  })

  it('ADD-46 T-95 nothing that the gateway answers is code in the snippet', async () => {
    const { proxy } = home.house
    const normal = (await svc('tus', 'token')).stdout
    const hostile = "'}, }); process.exit(9)\n/*\u2028"
    proxy.always(/tus\/tokens/, {
      lie: () => ({ tus_endpoint: hostile, headers: { 'X-Upload-Token': hostile }, expires_at: `now\n${hostile}` }),
    })
    const snippet = (await svc('tus', 'token')).stdout
    expect(snippet.split('\n')).toHaveLength(normal.split('\n').length)
    const script = join(home.folder, 'hostile.mjs')
    const upload =
      'class Upload { constructor(_, { endpoint, headers }) { console.log(JSON.stringify({ endpoint, headers })) } start() {} }'
    const source = join(home.folder, 'hostile.txt')
    await writeFile(source, 'x')
    await writeFile(script, snippet.replace("import { Upload } from 'tus-js-client'", upload))
    const { stdout } = await startProcess(pathToFileURL(script), { args: [source] }).ended
    expect(JSON.parse(stdout)).toEqual({ endpoint: hostile, headers: { 'X-Upload-Token': hostile } })
  })

  it('OPER-04 an operator can work with files and nothing else, until the owner removes the key', async () => {
    const { file, signer } = await newWallet(home.folder, 'operator.json')
    const { address } = signer
    const operator = (...args: string[]) => home.svc([...args, '--wallet', file])
    expect(await operator('ls')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('svc whoami') })
    await svc('operators', 'add', address)
    expect((await svc('operators')).stdout).toContain(`${address}  operator`)
    expect(await operator('ls')).toMatchObject({ exitCode: 0 })
    const refused = await operator('operators', 'add', address)
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('OWNER_REQUIRED') })
    await svc('operators', 'rm', address)
    expect(await operator('ls')).toMatchObject({ exitCode: 1 })
    expect(await home.svc(['operators', 'add', '0xabc'])).toMatchObject({ exitCode: 2 })
  })

  it('a command reports that it waits for a rate-limiting gateway, and stops when interrupted', async () => {
    const busy = { error: 'RATE_LIMITED', message: 'slower', request_id: 'r' }
    home.house.proxy.always(/./, { answer: { status: 429, headers: { 'retry-after': '60' }, body: busy } })
    const controller = new AbortController()
    const { world, stdout, stderr } = testWorld(home.env)
    const exitCode = run(['ls'], { ...world, signal: controller.signal })
    await expect.poll(stderr).toBe('The gateway answers RATE_LIMITED; trying again in 60 s…\n')
    controller.abort(new Interrupted('interrupted'))
    expect([await exitCode, stdout()]).toEqual([130, ''])
  })

  it('a folder in place of a file is answered with what to do, and never with advice to create it', async () => {
    await svc('put', await folderOf('foldered', { 'docs/one.txt': '1' }))
    for (const args of [
      ['rm', 'docs', '--yes'],
      ['cat', 'docs'],
      ['cat', 'nowhere.txt'],
    ]) {
      const { exitCode, stderr } = await home.svc(args)
      expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/hint: .*`svc ls`.*`svc get`.*`svc rm -r`/)])
      expect(stderr).not.toContain('create the file')
    }
    await svc('rm', '-r', 'docs', '--yes')
  })

  it('get -o takes a folder: a file, or what looks like the name of one, is refused', async () => {
    await svc('put', await folderOf('single', { 'single.txt': '1' }))
    const file = join(await folderOf('there', { 'a.txt': '1' }), 'a.txt')
    expect(await home.svc(['get', 'single.txt', '-o', file])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('is a file: -o takes a folder'),
    })
    const copy = inHome('copy.txt')
    expect(await home.svc(['get', 'single.txt', '-o', copy])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`-o - > ${copy}`),
    })
    await svc('get', 'single.txt', '-o', `${copy}/`)
    await svc('get', 'single.txt', '-o', copy)
    expect(await readFile(join(copy, 'single.txt'), 'utf8')).toBe('1')
    await svc('rm', 'single.txt', '--yes')
  })

  it('rm removes only the files that were confirmed', async () => {
    expect(await home.svc(['rm', 'a.txt'])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--yes') })
    expect(names((await svc('rm', '-r', 'sub', 'pictures', '--yes', '--json')).stdout)).toHaveLength(3)
    expect(names((await svc('ls', '--json')).stdout)).toEqual(['a.txt', 'large.bin', 'piped.json'])
    expect(await home.svc(['rm', 'sub/empty', '--yes'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('svc ls'),
    })
  })
})
