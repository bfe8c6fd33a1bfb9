// The file commands of an owner, against a real gateway.

import { createHash } from 'node:crypto'
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startProcess } from '@svc/devnet/start-process'
import { beforeAll, describe, expect, it } from 'vitest'
import { Interrupted } from '../../src/errors.ts'
import { run } from '../../src/run.ts'
import { exits, includes, jsonLines, testHost } from '../host.ts'
import { newWallet, useLockerHome } from '../locker.ts'

const home = useLockerHome()
const ok = (...args: string[]) => home.ok(...args)
const path = (...parts: string[]) => home.path(...parts)

const names = (text: string) => jsonLines(text).map(({ filename }) => filename)
const statuses = (text: string) => Object.fromEntries(jsonLines(text).map(({ filename, status }) => [filename, status]))

const FILES = { 'a.txt': 'A', 'sub/ü b.md': '# b', 'sub/empty': '' }
beforeAll(async () => {
  await ok('put', await home.write('in', FILES))
})

/** The options for a new locker with these files. */
async function newLocker(files: Record<string, string> = {}): Promise<[string, string]> {
  const { receipt_id } = await home.testbed.locker(home.signer)
  if (Object.keys(files).length > 0) await ok('put', await home.write(receipt_id, files), '-l', receipt_id)
  return ['-l', receipt_id]
}

describe('put, ls, get', () => {
  it('ERR-29 FILE-31 name the layer that failed when svc rejects an upload', async () => {
    const { stderr } = await home.svc(['put', path('none.txt'), '--json', ...(await newLocker())])
    const details = { layer: 'sandbox_runtime', recovery_hint: expect.any(String), next_best_method: 'the same' }
    expect(JSON.parse(stderr.trim().split('\n').at(-1) ?? '')).toMatchObject({ error: { code: 'usage', details } })
  })

  it('never upload key files or the config folder of svc, even through a symbolic link', async () => {
    const locker = await newLocker()
    const folder = await home.write('with-keys', { 'a.txt': 'a' })
    for (const name of ['owner.json', 'config']) await symlink(`../${name}`, join(folder, name))
    const { stderr } = await home.svc(['put', folder, '--follow', '--exclude', '*.txt', ...locker])
    expect(stderr).toContain('left out: owner.json (it contains your keys)')
    expect(stderr).toContain('left out: config/svc (it contains your keys)')
    expect(await home.svc(['put', path('owner.json'), ...locker])).toMatchObject(exits(2, 'it is not uploaded'))
    await ok('profile', 'new', 'other', '--gateway', home.testbed.proxy.url)
    const ofOther = path('config', 'svc', 'profiles', 'other')
    await newWallet(ofOther, 'wallet.json')
    for (const file of [join(ofOther, 'wallet.json'), ofOther, path('config', 'svc', 'config.json')])
      for (const more of [[], ['--profile', 'other']])
        expect((await home.svc(['put', file, ...locker, ...more])).stderr).toContain(
          'contains your keys: it is not uploaded',
        )
    expect(names((await ok('ls', '--json', ...locker)).stdout)).toEqual([])
  })

  it('FILE-01 FILE-16 upload a folder, download it byte for byte, and skip unchanged files', {
    tags: ['nightly'],
  }, async () => {
    const locker = await newLocker()
    const large = Buffer.alloc(9 * 1024 * 1024, 'large')
    const files = { ...FILES, 'large.bin': large }
    const folder = await home.write('folder', files)
    await symlink('a.txt', join(folder, 'link'))
    const first = await ok('put', folder, ...locker)
    expect(first.stderr).toContain('left out: link (a symbolic link)')
    expect(first.stdout.split('\n').filter((line) => line.startsWith('✓'))).toHaveLength(4)
    const { proxy } = home.testbed
    proxy.seen.length = 0
    const put = async () => statuses((await ok('put', folder, '--json', ...locker)).stdout)
    expect(Object.values(await put())).toEqual(Array(4).fill('unchanged'))
    expect(proxy.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([includes(/^POST .*files\/urls$/)])
    await writeFile(join(folder, 'a.txt'), 'changed')
    expect(await put()).toMatchObject({ 'a.txt': 'stored', 'large.bin': 'unchanged' })

    expect((await ok('ls', 'sub', ...locker)).stdout).toMatch(
      /SIZE +RECORDED +NAME\n +0 B .* sub\/empty\n +3 B .* sub\/ü b\.md/,
    )
    await ok('get', '-o', path('out'), ...locker)
    for (const [name, content] of Object.entries({ ...files, 'a.txt': 'changed' }))
      expect(Buffer.compare(await readFile(path('out', name)), Buffer.from(content)), name).toBe(0)
    const again = await ok('get', '-o', path('out'), '--json', ...locker)
    expect(Object.values(statuses(again.stdout))).toEqual(Array(4).fill('unchanged'))
    expect(await readdir(path('out'))).toEqual(['a.txt', 'large.bin', 'sub'])
  })

  it('derive the content type from the name, and accept --as, --to and standard input', async () => {
    const locker = await newLocker()
    await ok('put', path('in', 'a.txt'), '--as', 'b.png', '--to', 'pictures', ...locker)
    const piped = ['put', '-', '--as', 'piped.json', '--quiet', ...locker]
    expect(await home.svc(piped, { stdin: '{}' })).toMatchObject({ exitCode: 0 })
    const entries = jsonLines((await ok('ls', 'pictures', 'piped.json', '--json', ...locker)).stdout)
    expect(entries.map(({ content_type }) => content_type)).toEqual(['image/png', 'application/json'])
    expect((await ok('get', 'piped.json', '-o', '-', ...locker)).stdout).toBe('{}')
  })

  it('replace files on disk only with --overwrite', async () => {
    await home.write('mine', { 'a.txt': 'my own words' })
    const args = ['get', 'a.txt', '-o', path('mine')]
    expect(await home.svc(args)).toMatchObject({ exitCode: 1, stdout: includes('with other content') })
    expect(await readFile(path('mine', 'a.txt'), 'utf8')).toBe('my own words')
    await ok(...args, '--overwrite')
    expect(await readFile(path('mine', 'a.txt'), 'utf8')).toBe('A')
  })

  it('cat, stat and du show the content, the metadata and the sizes of files', async () => {
    expect((await ok('cat', 'a.txt', 'sub/ü b.md')).stdout).toBe('A# b')
    const { stdout } = await ok('stat', 'a.txt')
    expect(stdout).toMatch(/size +1 B \(1 bytes?\)\ntype +text\/plain.*\nhash +sha256:[0-9a-f]{64}/)
    expect(await home.json('stat', 'a.txt')).toMatchObject({ size_bytes: 1 })
    expect(jsonLines((await ok('du', '--json')).stdout)).toEqual([
      { name: 'sub/', files: 2, size_bytes: 3 },
      { name: 'a.txt', files: 1, size_bytes: 1 },
    ])
    expect((await ok('du', 'sub')).stdout).toMatch(/SIZE +FILES +NAME\n +3 B +2 +sub/)
  })

  it('fail for names and paths that do not exist', async () => {
    for (const command of [['get'], ['ls'], ['du'], ['stat'], ['rm', '-r', '--yes']])
      expect(await home.svc([...command, 'nothing']), command.join(' ')).toMatchObject(exits(1, 'no nothing'))
    const missing = await home.svc(['cat', 'nowhere.txt'])
    expect(missing).toMatchObject({ stdout: '', ...exits(1, /hint: .*`svc ls`.*`svc get`.*`svc rm -r`/) })
    expect(missing.stderr).not.toContain('create the file')
    expect(await home.svc(['get', 'a.txt', 'b.txt', '-o', '-'])).toMatchObject({ exitCode: 2 })
    expect(await home.svc(['put', path('nowhere')])).toMatchObject({ exitCode: 2 })
  })

  it.each([
    [['rm', '--yes'], 'svc rm -r sub/'],
    [['cat'], 'svc get sub/'],
    [['stat'], 'svc ls sub/'],
  ])('%j shows what works with a folder', async ([command = '', ...options], hint) => {
    for (const name of ['sub', 'sub/'])
      expect(await home.svc([command, name, ...options])).toMatchObject({
        stdout: '',
        ...exits(1, new RegExp(`sub/ is a folder\nhint: .*${hint}`)),
      })
  })

  it('get -o is a file if a single file is named, and a folder otherwise', async () => {
    const get = (...args: string[]) => home.svc(['get', ...args])
    const copy = path('new', '.copy')
    expect(await get('a.txt', '-o', copy)).toMatchObject({ exitCode: 0, stdout: `✓ a.txt → ${copy}\n` })
    expect(await readFile(copy, 'utf8')).toBe('A')
    expect(await get('a.txt', '-o', copy)).toMatchObject({ exitCode: 0, stdout: `= a.txt → ${copy}\n` })
    expect(await get('sub/ü b.md', '-o', copy)).toMatchObject({ exitCode: 1, stdout: includes('--overwrite') })
    expect((await get('sub/ü b.md', '-o', copy, '--overwrite', '--public')).exitCode).toBe(0)
    expect(await readFile(copy, 'utf8')).toBe('# b')
    for (const names of [[], ['a.txt', 'sub/empty'], ['sub']])
      expect(await get(...names, '-o', copy)).toMatchObject(exits(2, 'is a file, but several files need a folder'))
    for (const below of [join(copy, 'x'), join(copy, 'x', 'y')])
      expect(await get('a.txt', '-o', below)).toMatchObject(exits(1, 'a file is in the way'))
    for (const folder of [`${path('target')}/`, path('target')])
      expect((await get('a.txt', '-o', folder)).exitCode).toBe(0)
    expect(await readFile(path('target', 'a.txt'), 'utf8')).toBe('A')
  })

  it('-q omits the files that are done, but not those that failed', async () => {
    const locker = await newLocker(FILES)
    expect(await ok('put', path('in'), '-q', ...locker)).toMatchObject({ stdout: '', stderr: '' })
    await home.write('quiet', { 'a.txt': 'other' })
    const got = await home.svc(['get', '-q', '-o', path('quiet'), ...locker])
    expect(got).toMatchObject({ exitCode: 1, stdout: includes(/^✗ a\.txt: [^\n]*\n$/) })
    expect((await ok('mv', 'a.txt', 'b.txt', '-q', ...locker)).stdout).toBe('')
    expect((await ok('rm', 'b.txt', '-q', '--yes', ...locker)).stdout).toBe('')
    expect((await ok('sync', path('in'), ':', '-q', '--dry-run', ...locker)).stdout).toContain('✓ a.txt')
  })

  it('FILE-30 lets anyone with the receipt id download files by name, but not list them', async () => {
    const env = { SVC_LOCKER: home.receiptId, XDG_CONFIG_HOME: path('another-home') }
    const withReceiptId = (...args: string[]) => home.svc(args, { env })
    expect((await withReceiptId('get', 'a.txt', '-o', '-')).stdout).toBe('A')
    expect(await withReceiptId('get')).toMatchObject(exits(2, 'name the files'))
    expect(await withReceiptId('ls')).toMatchObject(exits(2, 'needs a wallet'))
    expect((await ok('get', '--public', 'a.txt', '-o', '-')).stdout).toBe('A')
  })

  it('rm removes only the files that were confirmed', async () => {
    const locker = await newLocker(FILES)
    expect(await home.svc(['rm', 'a.txt', ...locker])).toMatchObject(exits(2, '--yes'))
    expect(names((await ok('rm', '-r', 'sub', '--yes', '--json', ...locker)).stdout)).toHaveLength(2)
    expect(names((await ok('ls', '--json', ...locker)).stdout)).toEqual(['a.txt'])
    expect(await home.svc(['rm', 'sub/empty', '--yes', ...locker])).toMatchObject(exits(1, 'svc ls'))
  })
})

describe('url, share and link', () => {
  it('SHORT-05 a URL gives the file to anyone who has it', async () => {
    const { url, expires_in_sec } = await home.json<{ url: string; expires_in_sec: number }>(
      'url',
      'a.txt',
      '--ttl',
      '5',
    )
    expect([await (await fetch(url)).text(), expires_in_sec]).toEqual(['A', 300])
    const lasting = (await ok('url', 'sub/ü b.md', '--public')).stdout.trim()
    expect(await (await fetch(lasting)).text()).toBe('# b')
    expect(await home.svc(['url', 'nothing'])).toMatchObject({ exitCode: 1 })
    expect(await home.svc(['url', 'sub'])).toMatchObject(exits(1, 'svc share sub/'))
  })

  it('SHORT-01 share makes a temporary link for times below an hour, also as a QR code', async () => {
    const shown = await ok('share', 'a.txt', '--expires', '45m', '--qr')
    expect(shown.stderr).toMatch(/[▀▄█]{20}.*It works for 45 minutes/s)
    expect((await ok('share', 'a.txt', '--public')).stdout).toContain('/a.txt')
    for (const time of ['2', '0m', '90m', '3651d', 'soon', '-1h'])
      expect(await home.svc(['share', 'a.txt', '--expires', time]), time).toMatchObject({ exitCode: 2 })
    expect(await home.svc(['share', 'a.txt', '--expires', '2h', '--public'])).toMatchObject({ exitCode: 2 })
  })

  it('T-36 revoke ends the URLs of the locker after confirmation', async () => {
    const locker = await newLocker(FILES)
    const url = (await ok('url', 'a.txt', ...locker)).stdout.trim()
    expect((await home.svc(['revoke', ...locker], { stdin: 'n\n' })).exitCode).not.toBe(0)
    expect((await fetch(url)).status).toBe(200)
    await ok('revoke', '--yes', ...locker)
    expect((await fetch(url)).status).toBe(403)
  })

  it('T-49 the public link is shown, rotated, closed and opened again, with an explanation of what it opens', async () => {
    const locker = await newLocker(FILES)
    const lasting = async () => (await ok('url', 'a.txt', '--public', ...locker)).stdout.trim()
    const first = await lasting()
    const link = await ok('link', ...locker)
    expect(link.stdout).toContain(`/v1/r/${locker[1]}/f/<name>`)
    expect(link.stderr).toMatch(
      /open every file in the locker\. Once .* attested, the evidence at the same id lists all/,
    )
    const rotated = await ok('link', 'rotate', '--yes', ...locker)
    expect(rotated.stderr).toMatch(/open every file in the locker whose name they know.*not at this id/)
    const second = await lasting()
    expect([(await fetch(first)).status, await (await fetch(second)).text()]).toEqual([404, 'A'])
    const { id } = await home.json<{ id: string }>('link', ...locker)
    expect(second).toContain(id)
    const closed = await ok('link', 'close', ...locker)
    expect(closed.stdout).toContain('closed')
    expect(closed.stderr).toMatch(/Shares .*still work until they expire.*`svc revoke`.*Evidence stays public/)
    expect((await fetch(second)).status).toBe(404)
    expect(await home.svc(['url', 'a.txt', '--public', ...locker])).toMatchObject(exits(1, 'svc link open'))
    await ok('link', 'open', ...locker)
    expect((await fetch(second)).status).toBe(200)
  })
})

describe('tus', () => {
  /** Runs the snippet that `svc tus token` prints, with another library. */
  async function upload(snippet: string, library: [is: string, becomes: string]): Promise<string> {
    const folder = await home.write('tus', { 'upload.mjs': snippet.replace(...library), 'by-tus.txt': 'by tus' })
    const program = pathToFileURL(join(folder, 'upload.mjs'))
    return (await startProcess(program, { args: [join(folder, 'by-tus.txt')] }).ended).stdout.trim()
  }

  it('ADD-46 a tus token is printed with a snippet that uploads', async () => {
    const locker = await newLocker()
    const snippet = (await ok('tus', 'token', '--ttl', '5', '--prefix', 'in/', ...locker)).stdout
    const client = pathToFileURL(createRequire(import.meta.url).resolve('tus-js-client')).href
    const hash = `sha256:${createHash('sha256').update('by tus').digest('hex')}`
    expect(await upload(snippet, ["'tus-js-client'", `'${client}'`])).toBe(hash)
    expect((await ok('cat', 'in/by-tus.txt', ...locker)).stdout).toBe('by tus')
    expect(await home.json('tus', 'token', ...locker)).toMatchObject({ tus_endpoint: includes('/tus') })
  })

  it('ADD-46 T-95 no value from the gateway becomes code in the snippet', async () => {
    const normal = (await ok('tus', 'token')).stdout
    const hostile = "'}, }); process.exit(9)\n/*\u2028"
    const answer = { tus_endpoint: hostile, headers: { 'X-Upload-Token': hostile }, expires_at: `now\n${hostile}` }
    home.testbed.proxy.always(/tus\/tokens/, { lie: () => answer })
    const snippet = (await ok('tus', 'token')).stdout
    expect(snippet.split('\n')).toHaveLength(normal.split('\n').length)
    const printing =
      'class Upload { constructor(_, { endpoint, headers }) { console.log(JSON.stringify({ endpoint, headers })) } start() {} }'
    const printed = await upload(snippet, ["import { Upload } from 'tus-js-client'", printing])
    expect(JSON.parse(printed)).toEqual({ endpoint: hostile, headers: answer.headers })
  })
})

it('LOG-27 anchoring is shown, changed to the log and changed back', async () => {
  const locker = await newLocker()
  expect((await ok('anchoring', ...locker)).stdout).toContain('each')
  expect((await ok('anchoring', 'log', ...locker)).stdout).toContain('checkpoints of the log')
  expect(await home.json('anchoring', ...locker)).toMatchObject({ anchoring: 'log' })
  expect((await ok('anchoring', 'each', ...locker)).stdout).toContain('each')
})

it('OPER-04 an operator can work with files and nothing else, until the owner removes the key', async () => {
  const { file, signer } = await newWallet(home.folder, 'operator.json')
  const operator = (...args: string[]) => home.svc([...args, '--wallet', file])
  expect(await operator('ls')).toMatchObject(exits(1, 'svc whoami'))
  await ok('operators', 'add', signer.address)
  expect((await ok('operators')).stdout).toContain(`${signer.address}  operator`)
  expect(await operator('ls')).toMatchObject({ exitCode: 0 })
  expect(await operator('operators', 'add', signer.address)).toMatchObject(exits(1, 'OWNER_REQUIRED'))
  await ok('operators', 'rm', signer.address)
  expect(await operator('ls')).toMatchObject({ exitCode: 1 })
})

it('a command reports that it waits for a rate-limiting gateway, and stops when interrupted', async () => {
  const body = { error: 'RATE_LIMITED', message: 'slower', request_id: 'r' }
  home.testbed.proxy.always(/./, { answer: { status: 429, headers: { 'retry-after': '60' }, body } })
  const controller = new AbortController()
  const { host, stdout, stderr } = testHost(home.env)
  const exitCode = run(['ls'], { ...host, signal: controller.signal })
  await expect.poll(stderr).toBe('The gateway answers RATE_LIMITED; trying again in 60 s…\n')
  controller.abort(new Interrupted('interrupted'))
  expect([await exitCode, stdout()]).toEqual([130, ''])
})
