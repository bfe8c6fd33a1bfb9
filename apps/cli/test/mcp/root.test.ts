import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { openRoot } from '../../src/mcp/root.ts'
import { codeOf, settingsIn, startServer, textOf, useDesk } from './client.ts'

const desk = useDesk()
let home: string
beforeAll(async () => {
  home = join(desk.folder, 'users/me')
  await mkdir(join(home, 'project'), { recursive: true })
  await writeFile(join(home, 'notes.txt'), 'private')
  await writeFile(join(home, 'project/plan.txt'), 'fine')
  await symlink(home, join(desk.folder, 'link-to-home'))
  await symlink('/', join(desk.folder, 'link-to-all'))
})

/** The root of a server that a client starts in a folder. */
const rootIn = async (folder: string, variables = {}) =>
  openRoot(await settingsIn({ HOME: home, ...variables }, folder))

describe('the root', () => {
  it.each([
    ['/', () => '/'],
    ['the home folder', () => home],
    ['a parent of the home folder', () => dirname(home)],
    ['a link to the home folder', () => join(desk.folder, 'link-to-home')],
    ['a link to /', () => join(desk.folder, 'link-to-all')],
  ])('T-197 is not implied by a server that runs in %s', async (_, folder) => {
    const root = await rootIn(folder())
    expect(root.folder).toBeNull()
    for (const read of [root.open, root.openIfThere, root.enter])
      await expect(read(join(home, 'notes.txt'))).rejects.toMatchObject({
        code: 'no_root',
        hint: expect.stringContaining('SVC_MCP_ROOT'),
      })
    expect(await root.mayRead(join(home, 'notes.txt'))).toBe(false)
  })

  it('T-197 is not implied by the home folder when HOME is a link to it', async () => {
    expect((await rootIn(home, { HOME: join(desk.folder, 'link-to-home') })).folder).toBeNull()
  })

  it('is the working folder below the home folder', async () => {
    const root = await rootIn(join(home, 'project'))
    expect(root.folder).toBe(await realpath(join(home, 'project')))
    await (await root.open('plan.txt')).close()
  })

  it('is the folder that SVC_MCP_ROOT names, even the home folder', async () => {
    const root = await rootIn('/', { SVC_MCP_ROOT: home })
    expect(root.folder).toBe(await realpath(home))
    await (await root.open('notes.txt')).close()
  })

  it.each([
    ['missing', /^SVC_MCP_ROOT: \S+\/missing does not exist$/],
    ['users/me/notes.txt', /^SVC_MCP_ROOT: \S+\/notes\.txt is not a folder$/],
  ])('CFG-01 is rejected in one line at start if SVC_MCP_ROOT is %s', async (path, words) => {
    const SVC_MCP_ROOT = join(desk.folder, path)
    await expect(rootIn('/', { SVC_MCP_ROOT })).rejects.toMatchObject({
      name: 'Misuse',
      message: expect.stringMatching(words),
    })
  })
})

describe('a server without a root', () => {
  it('T-197 rejects paths, explains it in its help and log, and serves all other tools', async () => {
    const SVC_WALLET = await desk.keyFile('key', '22'.repeat(32))
    // Runs in its home folder.
    const variables = { SVC_MCP_ROOT: '', SVC_WALLET, SVC_GATEWAY: 'http://127.0.0.1:9' }
    const server = await startServer('memory', desk, variables)
    const receipt_id = `rcpt_${'0'.repeat(32)}`
    for (const result of [
      await server.ask('put_file', { receipt_id, filename: 'x', path: '/etc/hosts' }),
      await server.ask('verify', { path: 'bundle.json' }),
    ]) {
      expect(codeOf(result)).toBe('no_root')
      expect(textOf(result)).toMatch(/Next: The user must set SVC_MCP_ROOT/)
    }
    expect(await server.call('explain', { about: 'no_root' })).toMatchObject({ kind: 'code' })
    const { contents } = await server.client.readResource({ uri: 'svc://help' })
    expect((contents[0] as { text: string }).text).toMatch(/read no files.*SVC_MCP_ROOT/s)
    expect(server.log()).toContain('SVC_MCP_ROOT')
    await server.stop()
  })
})
