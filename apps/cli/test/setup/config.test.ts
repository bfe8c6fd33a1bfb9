import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeJson } from '../../src/setup/folder.ts'
import type { Settings } from '../../src/setup/settings.ts'
import { exits, jsonDocument, jsonLines, useHome } from '../host.ts'

const home = useHome()
const inConfig = (name: string) => home.path('config', 'svc', name)

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)
const gatewayNow = async (args: string[] = [], env = {}) => {
  const { stdout } = await home.svc(['config', '--json', ...args], { env })
  return jsonDocument<{ settings: Settings }>(stdout).settings.gateway!
}

it('the config folder is made private to the user and holds no temporary files', async () => {
  const folder = home.path('other')
  await mkdir(folder, { mode: 0o755 })
  await writeJson(home.path('other', 'a.json'), { a: 1 })
  expect([await modeOf(folder), await modeOf(home.path('other', 'a.json'))]).toEqual(['700', '600'])
  expect(await readdir(folder)).toEqual(['a.json'])
})

describe('settings', () => {
  it('come from the option, then the variable, then the file, then the default', async () => {
    expect(await gatewayNow()).toEqual({ value: 'http://localhost:8402', from: 'default' })
    expect(await home.svc(['config', 'set', 'gateway', 'https://a.example/'])).toMatchObject({ exitCode: 0 })
    expect(await gatewayNow()).toEqual({ value: 'https://a.example', from: inConfig('config.json') })
    const env = { SVC_GATEWAY: 'https://b.example' }
    expect(await gatewayNow([], env)).toEqual({ value: 'https://b.example', from: 'SVC_GATEWAY' })
    const option = ['--gateway', 'https://c.example']
    expect(await gatewayNow(option, env)).toEqual({ value: 'https://c.example', from: '--gateway' })
    await home.svc(['config', 'unset', 'gateway'])
    expect((await gatewayNow()).from).toBe('default')
  })

  it.each([
    ['ftp://a.example', 'not the address'],
    ['gateway', 'not the address'],
    ['https://me:secret@a.example', 'must not contain a password'],
  ])('reject %s as the address of a gateway with exit code 2', async (url, why) => {
    const { exitCode, stderr } = await home.svc(['config', 'set', 'gateway', url])
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(why)])
    expect(stderr).not.toContain('secret')
  })

  it('store the absolute path of a wallet', async () => {
    const { stdout } = await home.svc(['config', 'set', 'wallet', 'id.json', '--json'])
    expect(jsonLines(stdout)).toEqual([{ wallet: join(process.cwd(), 'id.json') }])
    await home.svc(['config', 'unset', 'wallet'])
  })

  it('report what is wrong with an edited config file', async () => {
    const file = inConfig('config.json')
    await writeFile(file, '{')
    expect(await home.svc(['config'])).toMatchObject(exits(1, 'is not JSON'))
    await writeFile(file, '{"gatway": "x"}')
    expect(await home.svc(['config'])).toMatchObject(exits(2, 'gatway'))
    await writeFile(file, '{}')
  })
})
