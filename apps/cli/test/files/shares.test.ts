import type { AccessList } from '@svc/api/access'
import type { Share } from '@svc/api/shares'
import { beforeAll, describe, expect, it } from 'vitest'
import { exits, jsonLines } from '../host.ts'
import { useLockerHome } from '../locker.ts'

const home = useLockerHome()

beforeAll(async () => {
  await home.ok('put', await home.write('in', { 'a.txt': 'A', 'sub/b.txt': 'B', 'sub/c.txt': 'C' }))
})

const share = (...args: string[]) => home.json<Share & { expires_in_sec: number | null }>('share', ...args)
const listed = async () => jsonLines((await home.ok('shares', '--json')).stdout).map(({ id }) => id)

describe('svc share', () => {
  it('ADD-61 makes an address that opens one file, for seven days by default', async () => {
    const made = await share('a.txt', '--label', 'for Ann')
    expect(made).toMatchObject({ filename: 'a.txt', kind: 'file', label: 'for Ann', expires_in_sec: 7 * 86_400 })
    expect(await (await fetch(made.url)).text()).toBe('A')
    const shown = await home.ok('share', 'a.txt', '--qr')
    expect(shown.stdout).toMatch(/^http\S+\/s\/[\w-]{22}\n$/)
    expect(shown.stderr).toMatch(/[▀▄█]{20}.*It works until .* UTC; `svc shares end [\w-]{22}` ends it earlier/s)
  })

  it('ADD-61 shares a folder, for the given time or for ever', async () => {
    const made = await share('sub/', '--expires', 'never')
    expect(made).toMatchObject({ kind: 'folder', expires_at: null, expires_in_sec: null })
    const { files } = (await (await fetch(made.url)).json()) as { files: { filename: string }[] }
    expect(files.map(({ filename }) => filename)).toEqual(['b.txt', 'c.txt'])
    expect(await share('sub/', '--expires', '30d')).toMatchObject({ expires_in_sec: 30 * 86_400 })
    expect(await home.svc(['share', 'sub'])).toMatchObject(exits(1, 'svc share sub/'))
    expect(await home.svc(['share', 'a.txt', '--public', '--label', 'x'])).toMatchObject({ exitCode: 2 })
  })
})

describe('svc shares', () => {
  it('ADD-61 lists shares with their last use, and ends them by id or address', async () => {
    const [first, second] = [await share('a.txt'), await share('sub/')]
    const { stdout } = await home.ok('shares')
    expect(stdout).toMatch(/^OPENS +LABEL +UNTIL +LAST USED +ADDRESS\n/)
    expect(stdout).toContain(first.url)
    await home.ok('shares', 'end', first.id, second.url)
    const left = await listed()
    expect([left.includes(first.id), left.includes(second.id)]).toEqual([false, false])
    expect((await fetch(first.url)).status).toBe(404)
    expect(await home.svc(['shares', 'end', first.id])).toMatchObject(exits(1, 'svc shares'))
    expect(await home.svc(['shares', 'end', 'a.txt'])).toMatchObject({ exitCode: 2 })
  })
})

describe('svc access', () => {
  it('ADD-62 lists everything that opens the locker, with the command that ends it', async () => {
    const { id } = await share('a.txt')
    const { access } = await home.json<AccessList>('access')
    expect(access.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['public_link', 'share']))
    const { stdout } = await home.ok('access')
    expect(stdout).toMatch(/^public link +everything .* svc link close$/m)
    const command = new RegExp(`^share +a\\.txt .* svc (shares end ${id})$`, 'm').exec(stdout)?.[1]?.split(' ')
    await home.ok(...(command ?? []))
    expect(await listed()).not.toContain(id)
  })

  it('ADD-62 the commands work as they are shown, for keys of all lockers and with several lockers', async () => {
    await home.ok('s3', 'keys', 'new', 'laptop', '--all')
    await home.ok('s3', 'keys', 'new', 'backup')
    const other = `rcpt_${'0'.repeat(32)}`
    await home.ok('lockers', 'add', other, '--name', 'other')
    const { id } = await share('a.txt', '-l', 'photos')
    const { stderr } = await home.ok('share', 'a.txt', '-l', 'photos')
    expect(stderr).toMatch(/`svc shares end [\w-]{22} -l photos` ends it earlier/)
    const { stdout } = await home.ok('access', '-l', 'photos')
    const commands = [...stdout.matchAll(/^(?:share|S3 key) .* svc (.+)$/gm)].map(([, words = '']) => words.split(' '))
    expect(commands.map((words) => words.join(' '))).toContain(`shares end ${id} -l photos`)
    for (const command of commands) await home.ok(...command)
    const { access } = await home.json<AccessList>('access', '-l', 'photos')
    expect(access.map(({ kind }) => kind)).toEqual(['public_link'])
    await home.ok('lockers', 'rm', other)
  })

  it('T-36 revoke ends the shares of the locker', async () => {
    const { url } = await share('a.txt')
    await home.ok('revoke', '--yes')
    expect((await fetch(url)).status).toBe(404)
    expect(await listed()).toEqual([])
  })
})
